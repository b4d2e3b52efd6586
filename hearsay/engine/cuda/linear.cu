#include <algorithm>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::Tape;

// A warp makes a tile of kRows x kWarp entries of one peer's product: a lane has a column. It reads
// kDepth terms at a time, while it adds up those before.
constexpr unsigned kWarp = 32;
constexpr unsigned kRows = 16;
constexpr unsigned kDepth = 16;
// Long sums are shared among up to so many warps of a block, and what they have is added in order;
// short ones are made by warps of their own.
constexpr unsigned kMostShares = 16, kMostThreads = kMostShares * kWarp;
constexpr unsigned kTilesABlock = 4, kTileThreads = kTilesABlock * kWarp;

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

/// A tile of the product of `rows` x `depth` and `depth` x `columns` entries, outside of which
/// there are zeros.
struct Tile {
  unsigned rows, columns, depth, first_row, first_column;
};

/// Shared memory of a warp: terms on their way to other lanes, at last its share of the sums.
constexpr unsigned kLeftPitch = kRows + 4, kRightPitch = kDepth + 1;
struct alignas(16) Room {
  float floats[kWarp * kRightPitch];
};
static_assert(sizeof(Room) >= sizeof(float) * kDepth * kLeftPitch);
static_assert(sizeof(Room) >= sizeof(float) * kRows * kWarp);

/// The terms of a tile from `base` on, as a lane reads them: neighbours are read together, which
/// left and right have along the depth if their flag says so.
template <bool kLeftAlongDepth, bool kRightAlongDepth>
struct Terms {
  static constexpr unsigned kAcross = kWarp / kDepth;
  float left[kRows / kAcross], right[kDepth];

  template <class Left, class Right>
  __device__ void read(const Tile& tile, unsigned base, const Left& left_at,
                       const Right& right_at) {
    const unsigned lane = threadIdx.x % kWarp, near = lane % kDepth, far = lane / kDepth;
#pragma unroll
    for (unsigned j = 0; j < kRows / kAcross; ++j) {
      const unsigned row = tile.first_row + (kLeftAlongDepth ? far + j * kAcross : near);
      const unsigned k = base + (kLeftAlongDepth ? near : far + j * kAcross);
      left[j] = row < tile.rows && k < tile.depth ? left_at(row, k) : 0.0f;
    }
#pragma unroll
    for (unsigned j = 0; j < kDepth; ++j) {
      const unsigned column = tile.first_column + (kRightAlongDepth ? far + j * kAcross : lane);
      const unsigned k = base + (kRightAlongDepth ? near : j);
      right[j] = column < tile.columns && k < tile.depth ? right_at(k, column) : 0.0f;
    }
  }

  /// From now on right[k] is of the lane's column, and room[k kLeftPitch + row] the left factor.
  __device__ void spread(float* room) {
    const unsigned lane = threadIdx.x % kWarp, near = lane % kDepth, far = lane / kDepth;
    __syncwarp();
    if constexpr (kRightAlongDepth) {
#pragma unroll
      for (unsigned j = 0; j < kDepth; ++j) {
        room[(far + j * kAcross) * kRightPitch + near] = right[j];
      }
      __syncwarp();
#pragma unroll
      for (unsigned k = 0; k < kDepth; ++k) right[k] = room[lane * kRightPitch + k];
      __syncwarp();
    }
#pragma unroll
    for (unsigned j = 0; j < kRows / kAcross; ++j) {
      const unsigned row = kLeftAlongDepth ? far + j * kAcross : near;
      const unsigned k = kLeftAlongDepth ? near : far + j * kAcross;
      room[k * kLeftPitch + row] = left[j];
    }
    __syncwarp();
  }
};
static_assert(kRows == kDepth && kWarp % kDepth == 0);

/// sums[r] += left(first_row + r, k) right(k, first_column + lane) over the k of chunks `share`,
/// share + shares, ... of kDepth each; total, if asked for, likewise of left(first_row + lane, k),
/// for lanes below kRows.
template <bool kLeftAlongDepth, bool kRightAlongDepth, class Left, class Right>
__device__ void multiply(const Tile& tile, unsigned share, unsigned shares, const Left& left,
                         const Right& right, float* room, float (&sums)[kRows], bool with_total,
                         float& total) {
  Terms<kLeftAlongDepth, kRightAlongDepth> next;
  next.read(tile, share * kDepth, left, right);
  for (unsigned base = share * kDepth; base < tile.depth; base += shares * kDepth) {
    auto terms = next;
    if (base + shares * kDepth < tile.depth) next.read(tile, base + shares * kDepth, left, right);
    terms.spread(room);
#pragma unroll
    for (unsigned k = 0; k < kDepth; ++k) {
#pragma unroll
      for (unsigned r = 0; r < kRows; r += 4) {
        const float4 four = *reinterpret_cast<const float4*>(room + k * kLeftPitch + r);
        sums[r] = fmaf(four.x, terms.right[k], sums[r]);
        sums[r + 1] = fmaf(four.y, terms.right[k], sums[r + 1]);
        sums[r + 2] = fmaf(four.z, terms.right[k], sums[r + 2]);
        sums[r + 3] = fmaf(four.w, terms.right[k], sums[r + 3]);
      }
    }
    if (with_total && threadIdx.x % kWarp < kRows) {
#pragma unroll
      for (unsigned k = 0; k < kDepth; ++k) total += room[k * kLeftPitch + threadIdx.x % kWarp];
    }
  }
}

/// The same, shared among the warps of a block: calls body(row, column, sum) for the entries of the
/// tile that are in the product. A thread has those of one column.
template <bool kRightAlongDepth, class Left, class Right, class Body>
__device__ void multiply_together(const Tile& tile, const Left& left, const Right& right,
                                  const Body& body) {
  __shared__ Room rooms[kMostShares];
  const unsigned shares = blockDim.x / kWarp, lane = threadIdx.x % kWarp;
  float* room = rooms[threadIdx.x / kWarp].floats;
  float sums[kRows] = {}, total = 0;
  multiply<true, kRightAlongDepth>(tile, threadIdx.x / kWarp, shares, left, right, room, sums,
                                   false, total);
  __syncwarp();
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) room[r * kWarp + lane] = sums[r];
  __syncthreads();
  const unsigned column = tile.first_column + lane;
  for (unsigned r = threadIdx.x / kWarp; r < kRows; r += shares) {
    float sum = 0;
    for (unsigned share = 0; share < shares; ++share) sum += rooms[share].floats[r * kWarp + lane];
    if (tile.first_row + r < tile.rows && column < tile.columns) {
      body(tile.first_row + r, column, sum);
    }
  }
}

/// y = x weight^T + bias: sample by output.
template <class T>
__global__ void __launch_bounds__(kMostThreads)
    linear_forward(const T* x, const float* const* parameters, Sizes s, T* y) {
  backend::cuda::begin_launch();
  const unsigned peer = blockIdx.z;
  const float* model = parameters[peer];
  const Tile tile{s.batch, s.out, s.in, blockIdx.y * kRows, blockIdx.x * kWarp};
  const unsigned output = tile.first_column + threadIdx.x % kWarp;
  const float bias = s.bias != kNowhere && output < s.out ? model[s.bias + output] : 0.0f;
  multiply_together<true>(
      tile,
      [&](unsigned b, unsigned i) {
        return to_float(x[(std::size_t{peer} * s.batch + b) * s.in + i]);
      },
      [&](unsigned i, unsigned o) { return model[s.weight + std::size_t{o} * s.in + i]; },
      [&](unsigned b, unsigned o, float sum) {
        const float value = sum + bias;
        y[(std::size_t{peer} * s.batch + b) * s.out + o] =
            from_float<T>(s.relu && value < 0 ? 0.0f : value);
      });
}

/// dx = g weight: sample by input.
template <class T>
__global__ void __launch_bounds__(kMostThreads)
    linear_backward(Arrays<T> arrays, const float* const* parameters, Sizes s, bool add, T* dx) {
  backend::cuda::begin_launch();
  const unsigned peer = blockIdx.z;
  const float* model = parameters[peer];
  multiply_together<false>(
      Tile{s.batch, s.in, s.out, blockIdx.y * kRows, blockIdx.x * kWarp},
      [&](unsigned b, unsigned o) { return gradient_of(arrays, s, peer, b, o); },
      [&](unsigned o, unsigned i) { return model[s.weight + std::size_t{o} * s.in + i]; },
      [&](unsigned b, unsigned i, float sum) {
        store_gradient(sum, add, dx + (std::size_t{peer} * s.batch + b) * s.in + i);
      });
}

/// d weight = g^T x: output by input. d bias = the sum of g over the samples.
template <class T>
__global__ void __launch_bounds__(kTileThreads)
    linear_weights(Arrays<T> arrays, Sizes s, float* const* gradient) {
  backend::cuda::begin_launch();
  __shared__ Room rooms[kTilesABlock];
  const unsigned peer = blockIdx.z, warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  float* model_gradient = gradient[peer];
  const Tile tile{s.out, s.in, s.batch, blockIdx.y * kRows,
                  (blockIdx.x * kTilesABlock + warp) * kWarp};
  if (tile.first_column >= s.in) return;
  const bool makes_bias = s.bias != kNowhere && tile.first_column == 0;
  float sums[kRows] = {}, total = 0;
  multiply<false, false>(
      tile, 0, 1, [&](unsigned o, unsigned b) { return gradient_of(arrays, s, peer, b, o); },
      [&](unsigned b, unsigned i) {
        return to_float(arrays.x[(std::size_t{peer} * s.batch + b) * s.in + i]);
      },
      rooms[warp].floats, sums, makes_bias, total);
  const unsigned input = tile.first_column + lane;
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    const unsigned output = tile.first_row + r;
    if (output < s.out && input < s.in) {
      model_gradient[s.weight + std::size_t{output} * s.in + input] = sums[r];
    }
  }
  const unsigned output = tile.first_row + lane;
  if (makes_bias && lane < kRows && output < s.out) model_gradient[s.bias + output] = total;
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
    with_storage(site_.precision, [&]<class T>(std::type_identity<T>) {
      tape.launch(linear_forward<T>, grid(sizes_.batch, sizes_.out, kWarp), shares(sizes_.in), 0,
                  static_cast<const T*>(site_.x->data), call.parameters, sizes_,
                  static_cast<T*>(site_.y->data));
    });
  }

  void backward(Tape& tape, const Call& call) override {
    with_storage(site_.precision, [&]<class T>(std::type_identity<T>) {
      const Arrays<T> arrays{.x = static_cast<const T*>(site_.x->data),
                             .y = static_cast<const T*>(site_.y->data),
                             .dy = static_cast<const T*>(site_.y->gradient)};
      tape.launch(linear_weights<T>, grid(sizes_.out, sizes_.in, kTileThreads), kTileThreads, 0,
                  arrays, sizes_, call.gradient);
      if (!site_.x->wants_gradient()) return;
      tape.launch(linear_backward<T>, grid(sizes_.batch, sizes_.in, kWarp), shares(sizes_.out), 0,
                  arrays, call.parameters, sizes_, site_.x->adds(),
                  static_cast<T*>(site_.x->gradient));
    });
  }

 private:
  dim3 grid(unsigned rows, unsigned columns, unsigned columns_a_block) const {
    return {blocks_for(columns, columns_a_block), blocks_for(rows, kRows),
            static_cast<unsigned>(site_.x->peers)};
  }
  /// Threads that share sums of `depth` terms.
  static unsigned shares(unsigned depth) {
    return kWarp * std::min(blocks_for(depth, kDepth), kMostShares);
  }

  Site site_;
  Sizes sizes_;
};

}  // namespace

std::unique_ptr<Step> make_linear(const model::Linear& linear, const Site& site) {
  return std::make_unique<LinearStep>(linear, site);
}

}  // namespace hearsay::engine::cuda
