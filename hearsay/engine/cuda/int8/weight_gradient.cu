#include "hearsay/engine/cuda/int8/weight_gradient.h"

#include <algorithm>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/core/error.h"
#include "hearsay/engine/cuda/int8/weight_gradient.cuh"

namespace hearsay::engine::cuda::int8 {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;

constexpr unsigned kMostTaps = 12;  ///< of a block: 5 KiB of shared memory each

/// What a block keeps in shared memory.
struct Workspace {
  __device__ Workspace(const Work& w, std::byte* memory) : pixels(w, memory, 1) {
    std::byte* at = memory + Pixels::bytes(w, 1);
    const auto take = [&](unsigned bytes) {
      std::byte* piece = at;
      at += (bytes + 15) / 16 * 16;
      return piece;
    };
    products = reinterpret_cast<std::int32_t*>(take(w.block_taps * kTile * 8));
    sums = reinterpret_cast<long long*>(take(w.block_taps * kTile * 8));
    gradient = reinterpret_cast<float*>(take(w.slices == 0 ? w.block_taps * kTile * 4 : 0));
    first_tap = blockIdx.x % w.tap_groups * w.block_taps;
    taps = min(w.block_taps, w.taps - first_tap);
  }
  static unsigned bytes(const Work& w) {
    return Pixels::bytes(w, 1) + w.block_taps * kTile * (w.slices == 0 ? 20 : 16) + 64;
  }

  Pixels pixels;
  std::int32_t* products;  ///< [half][tap][output][input], of what is in shared memory
  long long* sums;         ///< 256 high + low
  float* gradient;
  unsigned first_tap, taps;  ///< of this block
};

/// Adds the products of all pixels in shared memory to w.products. A warp has kTaps taps and a part
/// of the pixels, 32 at a time.
__device__ void multiply_pixels(const Work& w, const Workspace& s) {
  const unsigned lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
  const unsigned tap_groups = (s.taps + kTaps - 1) / kTaps;
  const unsigned parts = max(1u, kWarps / tap_groups), steps = w.pixels / 32;
  const std::uint32_t high = shared_address(s.pixels.high) + 16 * lane;
  const std::uint32_t low = shared_address(s.pixels.low) + 16 * lane;
  const std::uint32_t canvas = shared_address(s.pixels.canvas);
  for (unsigned job = threadIdx.x / kWarp; job < tap_groups * parts; job += kWarps) {
    const unsigned first_tap = job % tap_groups * kTaps, part = job / tap_groups;
    std::uint32_t tap_at[kTaps];
#pragma unroll
    for (unsigned k = 0; k < kTaps; ++k) {
      const unsigned tap = s.first_tap + min(first_tap + k, s.taps - 1);
      tap_at[k] = canvas + (tap / w.kernel * w.canvas_width + tap % w.kernel) * 16;
    }
    std::int32_t c[kTaps][2][2][4] = {};  // tap, half, input tile
    for (unsigned step = part; step < steps; step += parts) {
      multiply_step(c, high + step * 512, low + step * 512, tap_at,
                    s.pixels.offsets[step * 32 + lane]);
    }
#pragma unroll
    for (unsigned k = 0; k < kTaps; ++k) {
      if (first_tap + k >= s.taps) break;
#pragma unroll
      for (unsigned half = 0; half < 2; ++half) {
        std::int32_t* to = s.products + (half * s.taps + first_tap + k) * kTile;
#pragma unroll
        for (unsigned tile = 0; tile < 2; ++tile) {
#pragma unroll
          for (unsigned e = 0; e < 4; ++e) {
            const unsigned output = 2 * g + e / 2, input = 4 * t + 2 * (e % 2) + tile;
            atomicAdd(to + output * 16 + input, c[k][half][tile][e]);
          }
        }
      }
    }
  }
}

/// A block has a tile of 16 outputs x 16 inputs x all taps (or `block_taps` of them) of one peer,
/// for all samples or for a slice of a chunk: grid (tiles, splits, peers), 512 threads. Pixels go
/// through shared memory, as many samples at once as fit; their sums are collected there in
/// integers. Bound by reading x and the gradient, 3 bytes per pixel and channel and tile, mostly
/// from cache, and by instructions.
template <class Known>
__global__ void __launch_bounds__(kThreads) weight_gradient(Work w, float* const* gradients) {
  backend::cuda::begin_launch();
  Known::tell(w);
  extern __shared__ __align__(16) std::byte shared[];
  const Workspace s(w, shared);
  const unsigned tile = blockIdx.x / w.tap_groups;
  const unsigned group_out = tile / w.tiles_in, group_in = tile % w.tiles_in;
  const unsigned peer = blockIdx.z, entries = s.taps * kTile;
  const unsigned chunks = (w.batch + kChunk - 1) / kChunk;
  const unsigned first_chunk = w.slices == 0 ? 0 : blockIdx.y / w.slices;
  const unsigned last_chunk = w.slices == 0 ? chunks : first_chunk + 1;
  const unsigned slice = w.slices == 0 ? 0 : blockIdx.y % w.slices;
  const unsigned slices = max(1u, w.slices);
  for (unsigned i = threadIdx.x; i < 2 * entries; i += kThreads) s.products[i] = 0;
  for (unsigned i = threadIdx.x; i < entries; i += kThreads) {
    if (w.slices == 0) s.gradient[i] = 0;
  }
  for (unsigned chunk = first_chunk; chunk < last_chunk; ++chunk) {
    const unsigned first_of_chunk = peer * w.batch + chunk * kChunk;
    const unsigned size = min(kChunk, w.batch - chunk * kChunk);
    const Shares shares(w, first_of_chunk, size);
    const unsigned begin = size * slice / slices, end = size * (slice + 1) / slices;
    for (unsigned i = threadIdx.x; i < entries; i += kThreads) s.sums[i] = 0;
    for (unsigned n = begin; n < end; n += w.samples) {
      for (unsigned row = 0; row < w.y.height; row += w.rows) {
        load_pixels<kThreads, 1>(w, s.pixels, first_of_chunk + n, min(w.samples, end - n), row,
                                 shares, first_of_chunk, group_out, group_in);
        wait_for_copies();
        __syncthreads();
        multiply_pixels(w, s);
        __syncthreads();
        for (unsigned i = threadIdx.x; i < entries; i += kThreads) {
          s.sums[i] += 256ll * s.products[i] + s.products[entries + i];
          s.products[i] = s.products[entries + i] = 0;
        }
      }
    }
    if (w.slices == 0) {
      for (unsigned i = threadIdx.x; i < entries; i += kThreads) {
        s.gradient[i] += shares.most * static_cast<float>(s.sums[i]);
      }
    } else if (threadIdx.x == 0 && blockIdx.x == 0 && slice == 0) {
      w.units[peer * chunks + chunk] = shares.most;
    }
  }
  __syncthreads();
  const unsigned run = 16 * s.taps;  // in the order of the weights
  for (unsigned i = threadIdx.x; i < entries; i += kThreads) {
    const unsigned o = group_out * 16 + i / run, input = i % run / s.taps, tap = i % s.taps;
    const unsigned c = group_in * 16 + input;
    if (o >= w.out || c >= w.in) continue;
    const std::size_t to = (std::size_t{o} * w.in + c) * w.taps + s.first_tap + tap;
    const unsigned from = tap * kTile + i / run * 16 + input;
    if (w.slices == 0) {
      gradients[peer][w.at + to] = s.gradient[from];
    } else {
      w.parts[(std::size_t{peer} * gridDim.y + blockIdx.y) * (std::size_t{w.out} * w.in * w.taps) +
              to] = s.sums[from];
    }
  }
}

WeightGradient::Kernel narrow_kernel(const Work& work) {
  return work_kernel<KnownWork<16, 32>, KnownWork<32, 16>, AnyWork>(
      work, [](auto known) -> WeightGradient::Kernel { return weight_gradient<decltype(known)>; });
}

}  // namespace

WeightGradient::WeightGradient(const model::Conv2d& conv, std::size_t at, const Tensor& x,
                               const Tensor& y, const std::int16_t* codes, const float* scales,
                               int processors, int shared_bytes, SumCollector& sums)
    : work_{.x = Extent(x),
            .y = Extent(y),
            .in = static_cast<unsigned>(x.shape.channels),
            .out = static_cast<unsigned>(y.shape.channels),
            .kernel = static_cast<unsigned>(conv.kernel),
            .stride = static_cast<unsigned>(conv.stride),
            .padding = static_cast<unsigned>(conv.padding),
            .batch = static_cast<unsigned>(x.batch),
            .tiles_in = static_cast<unsigned>(x.channels() / 16),
            .slices = 0,
            .rows = static_cast<unsigned>(y.shape.height),
            .samples = kChunk,
            .canvas_height = 0,
            .canvas_width = static_cast<unsigned>((y.shape.width - 1) * conv.stride + conv.kernel),
            .pixels = 0,
            .taps = static_cast<unsigned>(conv.kernel * conv.kernel),
            .block_taps = static_cast<unsigned>(conv.kernel * conv.kernel),
            .tap_groups = 1,
            .unused = 0,
            .at = at,
            .codes = x.codes,
            .scales = x.scales,
            .gradient = codes,
            .gradient_scales = scales,
            .parts = nullptr,
            .units = nullptr},
      peers_(static_cast<unsigned>(x.peers)) {
  const unsigned chunks = (work_.batch + kChunk - 1) / kChunk;
  work_.tap_groups = (work_.taps + kMostTaps - 1) / kMostTaps;
  work_.block_taps = (work_.taps + work_.tap_groups - 1) / work_.tap_groups;
  const bool wide = WideKernel::fits(work_);
  tiles_ = work_.tiles_in * static_cast<unsigned>(y.channels() / 16) * work_.tap_groups /
           (wide ? WideKernel::kGroups : 1);
  const auto bytes = [&] { return wide ? WideKernel::bytes(work_) : Workspace::bytes(work_); };
  const auto enough = static_cast<unsigned>(processors);
  if (2 * tiles_ * peers_ < enough) {
    work_.slices = std::clamp(enough / (tiles_ * peers_ * chunks), 1u, kChunk);
    splits_ = chunks * work_.slices;
    work_.samples = (kChunk + work_.slices - 1) / work_.slices;
  }
  // What is in shared memory at once: samples, or else rows of one.
  const auto most = std::min(static_cast<unsigned>(shared_bytes) - 1024, 110u << 10);
  const auto fits = [&] {
    work_.canvas_height = (work_.rows - 1) * work_.stride + work_.kernel;
    work_.pixels = (work_.samples * work_.rows * work_.y.width + 31) / 32 * 32;
    return bytes() <= most;
  };
  while (!fits() && (work_.samples > 1 || work_.rows > 1)) {
    unsigned& amount = work_.samples > 1 ? work_.samples : work_.rows;
    amount = (amount + 1) / 2;
  }
  if (!fits()) {
    throw InvalidArgument("[precision] int8 on a GPU cannot train a convolution of " +
                          std::to_string(work_.taps) + " taps and images of " +
                          std::to_string(work_.x.width) +
                          " pixels across; use smaller ones, or another precision");
  }
  shared_bytes_ = bytes();
  threads_ = wide ? WideKernel::kThreads : kThreads;
  kernel_ = wide ? WideKernel::of(work_) : narrow_kernel(work_);
  if (work_.slices == 0) return;
  const std::size_t count = std::size_t{work_.out} * work_.in * work_.taps;
  parts_ = backend::cuda::Memory<long long>(peers_ * splits_ * count);
  units_ = backend::cuda::Memory<float>(peers_ * chunks);
  work_.parts = parts_.data();
  work_.units = units_.data();
  sums.add({.at = at,
            .count = static_cast<unsigned>(count),
            .stride = static_cast<unsigned>(count),
            .parts = parts_.data(),
            .units = units_.data(),
            .sums = chunks,
            .slices = work_.slices});
}

void WeightGradient::compute(LaunchRecorder& recorder, const Call& call) const {
  constexpr int kSide = 1;  // no later step reads the gradient
  recorder.fork(kSide);
  recorder.use(kSide);
  recorder.launch(kernel_, dim3(tiles_, splits_, peers_), threads_, shared_bytes_, work_,
                  call.gradient);
  recorder.use(0);
}

}  // namespace hearsay::engine::cuda::int8
