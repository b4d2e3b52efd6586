#include "hearsay/engine/cuda/int8/weights.h"

#include <algorithm>
#include <cassert>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/int8/tensor.h"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/quantize.h"

namespace hearsay::engine::cuda::int8 {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;

constexpr unsigned kThreads = 256, kWarp = 32;
constexpr unsigned kTile = 16;     ///< outputs and inputs of a block that packs
constexpr unsigned kPiece = 4096;  ///< parameters of a block that measures

__global__ void clear(std::uint32_t* magnitudes, unsigned count) {
  backend::cuda::begin_launch();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) magnitudes[i] = 0;
}

__device__ void raise_of_warp(std::uint32_t most, std::uint32_t* to) {
  most = __reduce_max_sync(~0u, most);
  if (threadIdx.x % kWarp == 0) atomicMax(to, most);
}

/// magnitudes[tensor][peer] = max |w|. Grid (blocks of the packing launch, peers): a tile of 16
/// outputs x 16 inputs x all taps per block, as in `pack_weights`; a maximum does not depend on the
/// order of its atomics. Bound by reading the weights once.
__global__ void __launch_bounds__(kThreads)
    measure_weights(const PackedTensor* tensors, const unsigned* tensor_of_block,
                    const float* const* parameters, std::uint32_t* magnitudes) {
  backend::cuda::begin_launch();
  const unsigned number = tensor_of_block[blockIdx.x];
  const PackedTensor& t = tensors[number];
  const unsigned tile = blockIdx.x - t.first_block, tiles = (t.in + kTile - 1) / kTile;
  const unsigned first_out = tile / tiles * kTile, first_in = tile % tiles * kTile;
  const unsigned run = min(kTile, t.in - first_in) * t.taps, rows = min(kTile, t.out - first_out);
  const float* weights = parameters[blockIdx.y] + t.at;
  std::uint32_t most = 0;
  for (unsigned i = threadIdx.x; i < rows * run; i += kThreads) {
    const std::size_t row = first_out + i / run;
    most = max(most, magnitude_bits(weights[(row * t.in + first_in) * t.taps + i % run]));
  }
  raise_of_warp(most, magnitudes + number * gridDim.y + blockIdx.y);
}

/// The same over all parameters of a model: the network has no loss if one is not finite.
__global__ void __launch_bounds__(kThreads)
    measure_models(const float* const* parameters, std::size_t count, std::uint32_t* magnitudes) {
  backend::cuda::begin_launch();
  const float* model = parameters[blockIdx.y];
  const std::size_t first = std::size_t{blockIdx.x} * kPiece;
  std::uint32_t most = 0;
  for (std::size_t i = first + threadIdx.x; i < min(first + kPiece, count); i += kThreads) {
    most = max(most, magnitude_bits(model[i]));
  }
  raise_of_warp(most, magnitudes + blockIdx.y);
}

/// Where the word of (unit, column, four terms) stands: a step is two units; its columns in groups
/// of 16, each of 32 lanes with four words (product.cuh).
__device__ std::size_t word_at(unsigned unit, unsigned column, unsigned quad, unsigned groups) {
  const unsigned lane = column % 8 * 4 + quad, word = column % 16 / 8 * 2 + unit % 2;
  return ((std::size_t{unit / 2} * groups + column / 16) * kWarp + lane) * 4 + word;
}

/// Codes of a tile of 16 outputs x 16 inputs x all taps, in both orders. Grid (tiles of all
/// tensors, peers), 256 threads. The tile's codes are in shared memory (256 bytes per tap), read
/// along the taps and written by words of four channels. Bound by memory: 4 bytes read and 1 or 2
/// written per weight.
__global__ void __launch_bounds__(kThreads)
    pack_weights(const PackedTensor* tensors, const unsigned* tensor_of_block,
                 const float* const* parameters, const std::uint32_t* magnitudes) {
  backend::cuda::begin_launch();
  extern __shared__ __align__(16) std::int8_t codes[];  // [tap][output][input]
  const unsigned number = tensor_of_block[blockIdx.x];
  const PackedTensor t = tensors[number];
  const unsigned tile = blockIdx.x - t.first_block, tiles = (t.in + kTile - 1) / kTile;
  const unsigned out_group = tile / tiles, in_group = tile % tiles;
  const unsigned in_groups = tiles, out_groups = (t.out + kTile - 1) / kTile;
  const float* weights = parameters[blockIdx.y] + t.at;
  const float factor =
      factor_of(__uint_as_float(magnitudes[number * gridDim.y + blockIdx.y]), kTop8);
  const unsigned run = kTile * t.taps;
  for (unsigned i = threadIdx.x; i < kTile * run; i += kThreads) {
    const unsigned row = i / run, input = i % run / t.taps, tap = i % t.taps;
    const std::size_t o = out_group * kTile + row, c = in_group * kTile + input;
    const bool inside = o < t.out && c < t.in;
    codes[(tap * kTile + row) * kTile + input] =
        inside ? code8(weights[(o * t.in + c) * t.taps + tap], factor) : std::int8_t{0};
  }
  __syncthreads();
  std::uint32_t* forward = t.forward + blockIdx.y * t.forward_words;
  std::uint32_t* turned = t.turned == nullptr ? nullptr : t.turned + blockIdx.y * t.turned_words;
  for (unsigned i = threadIdx.x; i < t.taps * kTile * 4; i += kThreads) {
    const unsigned tap = i / (kTile * 4), channel = i / 4 % kTile, quad = i % 4;
    const std::int8_t* tile_codes = codes + tap * kTile * kTile;
    const auto* along = reinterpret_cast<const std::uint32_t*>(tile_codes + channel * kTile);
    forward[word_at(tap * in_groups + in_group, out_group * kTile + channel, quad, out_groups)] =
        along[quad];
    if (turned == nullptr) continue;
    std::uint32_t word = 0;
    for (unsigned k = 0; k < 4; ++k) {
      word |= std::uint32_t{static_cast<std::uint8_t>(tile_codes[(4 * quad + k) * kTile + channel])}
              << (8 * k);
    }
    turned[word_at((t.taps - 1 - tap) * out_groups + out_group, in_group * kTile + channel, quad,
                   in_groups)] = word;
  }
}

}  // namespace

WeightCodes::WeightCodes(std::size_t peers, std::size_t parameters)
    : peers_(peers), parameters_(parameters), magnitudes_(kMost * peers) {}

std::size_t WeightCodes::add(std::size_t at, std::size_t out, std::size_t in, std::size_t taps,
                             bool turned) {
  assert(on_device_.size() == 0 && tensors_.size() + 1 < kMost);
  PackedTensor t{.at = at,
                 .out = static_cast<unsigned>(out),
                 .in = static_cast<unsigned>(in),
                 .taps = static_cast<unsigned>(taps),
                 .first_block = blocks_};
  blocks_ += static_cast<unsigned>(padded(out) / kTile * (padded(in) / kTile));
  t.forward_words = packed_words(taps * padded(in) / 16, padded(out));
  const auto allocate = [&](std::size_t words_of_peer, std::size_t columns) {
    const std::size_t ahead = packed_words(2 * kMostAhead, columns);
    return codes_.emplace_back(peers_ * words_of_peer + ahead).data();
  };
  t.forward = allocate(t.forward_words, padded(out));
  if (turned) {
    t.turned_words = packed_words(taps * padded(out) / 16, padded(in));
    t.turned = allocate(t.turned_words, padded(in));
  }
  tensors_.push_back(t);
  return tensors_.size() - 1;
}

void WeightCodes::prepare() {
  std::vector<unsigned> tensor_of_block(blocks_);
  for (unsigned k = 0; k < tensors_.size(); ++k) {
    std::fill(tensor_of_block.begin() + tensors_[k].first_block, tensor_of_block.end(), k);
  }
  on_device_ = Memory<PackedTensor>(std::span<const PackedTensor>(tensors_));
  tensor_of_block_ = Memory<unsigned>(std::span<const unsigned>(tensor_of_block));
}

void WeightCodes::pack(LaunchRecorder& recorder, const Call& call) {
  if (on_device_.size() == 0) prepare();
  const auto peers = static_cast<unsigned>(peers_);
  const dim3 grid(blocks_, peers);
  unsigned taps = 1;
  for (const PackedTensor& t : tensors_) taps = std::max(taps, t.taps);
  recorder.launch(clear, 1, 1024, 0, magnitudes_.data(), static_cast<unsigned>(magnitudes_.size()));
  recorder.launch(measure_weights, grid, kThreads, 0, on_device_.data(), tensor_of_block_.data(),
                  call.parameters, magnitudes_.data());
  recorder.launch(measure_models, dim3(blocks_for(parameters_, kPiece), peers), kThreads, 0,
                  call.parameters, parameters_, magnitudes_.data() + (kMost - 1) * peers_);
  recorder.launch(pack_weights, grid, kThreads, taps * kTile * kTile, on_device_.data(),
                  tensor_of_block_.data(), call.parameters, magnitudes_.data());
}

}  // namespace hearsay::engine::cuda::int8
