#include <algorithm>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"
#include "hearsay/engine/cuda/tile_product.cuh"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::LaunchRecorder;

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

/// grad_output of output o of sample b, 0 where relu's output is not positive.
template <class T>
__device__ float gradient_of(const Arrays<T>& a, const Sizes& s, unsigned peer, unsigned b,
                             unsigned o) {
  const std::size_t at = (std::size_t{peer} * s.batch + b) * s.out + o;
  const float grad_output = to_float(a.dy[at]);
  const bool cut = s.relu && !(to_float(a.y[at]) > 0);
  return cut ? 0.0f : grad_output;
}

/// y(b, o) = relu(sum over i of x(b, i) weight(o, i) + bias_o), as float FMAs in every precision
/// (no tensor cores). Grid (tiles of 16 samples x 32 outputs, row by row; peers); a block is one
/// tile, min(ceil(in / 16), 16) warps that share the sum over i (tile_product.cuh). Shared memory:
/// 16 Workspaces of 2,176 bytes = 34,816. Each peer has its own weights, which are read once per 16
/// samples, along i. Bound by reads and latency, not arithmetic (tile_product.cuh); one of the 11
/// launches of ResNet-20 that together take 49 us (docs/performance.md).
template <class T>
__global__ void __launch_bounds__(kMostThreads)
    linear_forward(const T* x, const float* const* parameters, Sizes s, T* y) {
  backend::cuda::begin_launch();
  __shared__ Workspace workspaces[kMostShares];
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
      [&](unsigned i, unsigned o) { return model[s.weight + std::size_t{o} * s.in + i]; },
      workspaces,
      [&](unsigned b, unsigned o, float sum) {
        const float value = sum + bias;
        y[(std::size_t{peer} * s.batch + b) * s.out + o] =
            from_float<T>(s.relu && value < 0 ? 0.0f : value);
      });
}

/// dx(b, i) = sum over o of g(b, o) weight(o, i): one tile of 16 samples x 32 inputs per block,
/// whose warps share the sum over o; weights are read along i, so without a transposition in shared
/// memory.
template <class T>
__device__ void make_input_gradient(unsigned number, const Arrays<T>& arrays, const float* model,
                                    const Sizes& s, bool add, T* dx, Workspace* workspaces) {
  const unsigned peer = blockIdx.y;
  multiply_together<false>(
      Tile(number, s.batch, s.in, s.out),
      [&](unsigned b, unsigned o) { return gradient_of(arrays, s, peer, b, o); },
      [&](unsigned o, unsigned i) { return model[s.weight + std::size_t{o} * s.in + i]; },
      workspaces,
      [&](unsigned b, unsigned i, float sum) {
        store_gradient(sum, add, dx + (std::size_t{peer} * s.batch + b) * s.in + i);
      });
}

/// d weight(o, i) = sum over b of g(b, o) x(b, i): one tile of 16 outputs x 32 inputs per warp,
/// which sums over all samples ascending. d bias_o = the sum of g over the samples, by the tiles of
/// the first column.
template <class T>
__device__ void make_weight_gradient(unsigned number, const Arrays<T>& arrays, const Sizes& s,
                                     float* gradient, float* workspace) {
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
      workspace, sums, makes_bias, total);
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

/// Backward to input and weights in one launch, as neither depends on the other. Grid (input_tiles
/// + ceil(weight tiles / warps), peers), min(ceil(out / 16), 16) warps: the first input_tiles
/// blocks compute a tile of dx each, the others one tile of d weight per warp, whose sums over the
/// batch are short. Shared memory: 34,816 bytes. Order of sums: tile_product.cuh. Bound by reads
/// and latency, as linear_forward; d weight is written once, 4 bytes per weight and peer.
template <class T>
__global__ void __launch_bounds__(kMostThreads)
    linear_backward(Arrays<T> arrays, const float* const* parameters, Sizes s, bool add,
                    unsigned input_tiles, T* dx, float* const* gradient) {
  backend::cuda::begin_launch();
  __shared__ Workspace workspaces[kMostShares];
  const unsigned peer = blockIdx.y;
  if (blockIdx.x < input_tiles) {
    make_input_gradient(blockIdx.x, arrays, parameters[peer], s, add, dx, workspaces);
  } else {
    const unsigned warps = blockDim.x / kWarp, warp = threadIdx.x / kWarp;
    make_weight_gradient((blockIdx.x - input_tiles) * warps + warp, arrays, s, gradient[peer],
                         workspaces[warp].floats);
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

  void forward(LaunchRecorder& recorder, const Call& call) override {
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      recorder.launch(linear_forward<T>, dim3(tiles(sizes_.batch, sizes_.out), peers()),
                      kWarp * shares(sizes_.in), 0, static_cast<const T*>(site_.x->data),
                      call.parameters, sizes_, static_cast<T*>(site_.y->data));
    });
  }

  void backward(LaunchRecorder& recorder, const Call& call) override {
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      const Arrays<T> arrays{.x = static_cast<const T*>(site_.x->data),
                             .y = static_cast<const T*>(site_.y->data),
                             .dy = static_cast<const T*>(site_.y->gradient)};
      const bool wanted = site_.x->wants_gradient();
      const unsigned warps = shares(sizes_.out);
      const unsigned input_tiles = wanted ? tiles(sizes_.batch, sizes_.in) : 0;
      const unsigned weight_blocks = blocks_for(tiles(sizes_.out, sizes_.in), warps);
      recorder.launch(linear_backward<T>, dim3(input_tiles + weight_blocks, peers()), kWarp * warps,
                      0, arrays, call.parameters, sizes_, wanted && site_.x->adds(), input_tiles,
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
