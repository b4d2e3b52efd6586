#include <algorithm>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"
#include "hearsay/engine/cuda/tile_product.cuh"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::Tape;

struct Sizes {
  unsigned batch, in, out, relu;
  std::size_t weight, bias;  ///< where they lie in a model; kNowhere: there is none
};

template <class T>
struct Arrays {
  const T* x;
  const T* y;
  const T* dy;
};

/// The gradient of output o of sample b, 0 where relu cut it off.
template <class T>
__device__ float gradient_of(const Arrays<T>& a, const Sizes& s, unsigned peer, unsigned b,
                             unsigned o) {
  const std::size_t at = (std::size_t{peer} * s.batch + b) * s.out + o;
  const float slope = to_float(a.dy[at]);
  const bool cut = s.relu && !(to_float(a.y[at]) > 0);
  return cut ? 0.0f : slope;
}

/// y = x weight^T + bias: sample by output.
template <class T>
__global__ void __launch_bounds__(kMostThreads)
    linear_forward(const T* x, const float* const* parameters, Sizes s, T* y) {
  backend::cuda::begin_launch();
  __shared__ Room rooms[kMostShares];
  const unsigned peer = blockIdx.y;
  const float* model = parameters[peer];
  const Tile tile(blockIdx.x, s.batch, s.out, s.in);
  const unsigned output = tile.first_column + threadIdx.x % kWarp;
  const float bias = s.bias != kNowhere && output < s.out ? model[s.bias + output] : 0.0f;
  multiply_together<true>(
      tile,
      [&](unsigned b, unsigned i) {
        return to_float(x[(std::size_t{peer} * s.batch + b) * s.in + i]);
      },
      [&](unsigned i, unsigned o) { return model[s.weight + std::size_t{o} * s.in + i]; }, rooms,
      [&](unsigned b, unsigned o, float sum) {
        const float value = sum + bias;
        y[(std::size_t{peer} * s.batch + b) * s.out + o] =
            from_float<T>(s.relu && value < 0 ? 0.0f : value);
      });
}

/// dx = g weight: sample by input.
template <class T>
__device__ void make_input_gradient(unsigned number, const Arrays<T>& arrays, const float* model,
                                    const Sizes& s, bool add, T* dx, Room* rooms) {
  const unsigned peer = blockIdx.y;
  multiply_together<false>(
      Tile(number, s.batch, s.in, s.out),
      [&](unsigned b, unsigned o) { return gradient_of(arrays, s, peer, b, o); },
      [&](unsigned o, unsigned i) { return model[s.weight + std::size_t{o} * s.in + i]; }, rooms,
      [&](unsigned b, unsigned i, float sum) {
        store_gradient(sum, add, dx + (std::size_t{peer} * s.batch + b) * s.in + i);
      });
}

/// d weight = g^T x: output by input. d bias = the sum of g over the samples.
template <class T>
__device__ void make_weight_gradient(unsigned number, const Arrays<T>& arrays, const Sizes& s,
                                     float* gradient, float* room) {
  const unsigned peer = blockIdx.y, lane = threadIdx.x % kWarp;
  const Tile tile(number, s.out, s.in, s.batch);
  if (tile.first_row >= s.out) return;
  const bool makes_bias = s.bias != kNowhere && tile.first_column == 0;
  float sums[kRows] = {}, total = 0;
  multiply<false, false>(
      tile, 0, 1, [&](unsigned o, unsigned b) { return gradient_of(arrays, s, peer, b, o); },
      [&](unsigned b, unsigned i) {
        return to_float(arrays.x[(std::size_t{peer} * s.batch + b) * s.in + i]);
      },
      room, sums, makes_bias, total);
  const unsigned input = tile.first_column + lane;
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    const unsigned output = tile.first_row + r;
    if (output < s.out && input < s.in) {
      gradient[s.weight + std::size_t{output} * s.in + input] = sums[r];
    }
  }
  const unsigned output = tile.first_row + lane;
  if (makes_bias && lane < kRows && output < s.out) gradient[s.bias + output] = total;
}

/// Both, as neither waits for the other: the first `input_tiles` blocks make a tile of dx each, the
/// others have as many tiles of d weight as warps, whose sums are short.
template <class T>
__global__ void __launch_bounds__(kMostThreads)
    linear_backward(Arrays<T> arrays, const float* const* parameters, Sizes s, bool add,
                    unsigned input_tiles, T* dx, float* const* gradient) {
  backend::cuda::begin_launch();
  __shared__ Room rooms[kMostShares];
  const unsigned peer = blockIdx.y;
  if (blockIdx.x < input_tiles) {
    make_input_gradient(blockIdx.x, arrays, parameters[peer], s, add, dx, rooms);
  } else {
    const unsigned warps = blockDim.x / kWarp, warp = threadIdx.x / kWarp;
    make_weight_gradient((blockIdx.x - input_tiles) * warps + warp, arrays, s, gradient[peer],
                         rooms[warp].floats);
  }
}

class LinearStep final : public Step {
 public:
  LinearStep(const model::Linear& linear, const Site& site)
      : site_(site),
        sizes_{.batch = static_cast<unsigned>(site.x->batch),
               .in = static_cast<unsigned>(site.x->shape.size()),
               .out = static_cast<unsigned>(linear.out),
               .relu = site.relu,
               .weight = site.places.parameter[0],
               .bias = linear.bias ? site.places.parameter[1] : kNowhere} {}

  void forward(Tape& tape, const Call& call) override {
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      tape.launch(linear_forward<T>, dim3(tiles(sizes_.batch, sizes_.out), peers()),
                  kWarp * shares(sizes_.in), 0, static_cast<const T*>(site_.x->data),
                  call.parameters, sizes_, static_cast<T*>(site_.y->data));
    });
  }

  void backward(Tape& tape, const Call& call) override {
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      const Arrays<T> arrays{.x = static_cast<const T*>(site_.x->data),
                             .y = static_cast<const T*>(site_.y->data),
                             .dy = static_cast<const T*>(site_.y->gradient)};
      const bool wanted = site_.x->wants_gradient();
      const unsigned warps = shares(sizes_.out);
      const unsigned input_tiles = wanted ? tiles(sizes_.batch, sizes_.in) : 0;
      const unsigned weight_blocks = blocks_for(tiles(sizes_.out, sizes_.in), warps);
      tape.launch(linear_backward<T>, dim3(input_tiles + weight_blocks, peers()), kWarp * warps, 0,
                  arrays, call.parameters, sizes_, wanted && site_.x->adds(), input_tiles,
                  static_cast<T*>(site_.x->gradient), call.gradient);
    });
  }

 private:
  unsigned peers() const { return static_cast<unsigned>(site_.x->peers); }
  static unsigned tiles(unsigned rows, unsigned columns) {
    return blocks_for(rows, kRows) * blocks_for(columns, kWarp);
  }
  /// Warps that share sums of `depth` terms.
  static unsigned shares(unsigned depth) {
    return std::min(blocks_for(depth, kDepth), kMostShares);
  }

  Site site_;
  Sizes sizes_;
};

}  // namespace

std::unique_ptr<Step> make_linear(const model::Linear& linear, const Site& site) {
  return std::make_unique<LinearStep>(linear, site);
}

}  // namespace hearsay::engine::cuda
