#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::Tape;

// A block makes a tile of kTile x kTile entries of one peer's product, kTile terms at a time; a
// thread has kRows of them, in one column.
constexpr unsigned kTile = 32;
constexpr unsigned kThreads = 256;
constexpr unsigned kRows = kTile * kTile / kThreads;

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
  return s.relu && !(to_float(a.y[at]) > 0) ? 0.0f : to_float(a.dy[at]);
}

/// sums[r] = sum over k < depth of left(first_row + row(r), k) right(k, first_column + column),
/// with 0 outside `rows` and `columns`. left and right run fastest along k if their flag says so,
/// and are read in that order. `total`, if given, gets the sum over k of left(row, k).
template <bool kLeftAlongK, bool kRightAlongK, class Left, class Right>
__device__ void multiply_tile(unsigned rows, unsigned columns, unsigned depth, const Left& left,
                              const Right& right, float (&sums)[kRows], float* total) {
  __shared__ float a[kTile][kTile + 1], b[kTile][kTile + 1];  // [row][k], [k][column]
  const unsigned lane = threadIdx.x % kTile, strip = threadIdx.x / kTile;
  const unsigned first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
  for (unsigned base = 0; base < depth; base += kTile) {
#pragma unroll
    for (unsigned r = 0; r < kRows; ++r) {
      const unsigned other = strip + r * (kThreads / kTile);
      const unsigned i = kLeftAlongK ? other : lane, ik = kLeftAlongK ? lane : other;
      const bool in_a = first_row + i < rows && base + ik < depth;
      a[i][ik] = in_a ? left(first_row + i, base + ik) : 0.0f;
      const unsigned j = kRightAlongK ? other : lane, jk = kRightAlongK ? lane : other;
      const bool in_b = first_column + j < columns && base + jk < depth;
      b[jk][j] = in_b ? right(base + jk, first_column + j) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kTile; ++k) {
#pragma unroll
      for (unsigned r = 0; r < kRows; ++r) {
        sums[r] = fmaf(a[strip + r * (kThreads / kTile)][k], b[k][lane], sums[r]);
      }
    }
    if (total != nullptr && strip == 0) {
      for (unsigned k = 0; k < kTile; ++k) *total += a[lane][k];
    }
    __syncthreads();
  }
}

/// Calls body(row, column, r) for the entries of the thread that lie in the matrix.
template <class Body>
__device__ void for_each_entry(unsigned rows, unsigned columns, const Body& body) {
  const unsigned column = blockIdx.x * kTile + threadIdx.x % kTile;
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) {
    const unsigned row = blockIdx.y * kTile + threadIdx.x / kTile + r * (kThreads / kTile);
    if (row < rows && column < columns) body(row, column, r);
  }
}

/// y = x weight^T + bias: sample by output.
template <class T>
__global__ void linear_forward(const T* x, const float* const* parameters, Sizes s, T* y) {
  backend::cuda::begin_launch();
  const unsigned peer = blockIdx.z;
  const float* model = parameters[peer];
  float sums[kRows] = {};
  multiply_tile<true, true>(
      s.batch, s.out, s.in,
      [&](unsigned b, unsigned i) {
        return to_float(x[(std::size_t{peer} * s.batch + b) * s.in + i]);
      },
      [&](unsigned i, unsigned o) { return model[s.weight + std::size_t{o} * s.in + i]; }, sums,
      nullptr);
  for_each_entry(s.batch, s.out, [&](unsigned b, unsigned o, unsigned r) {
    const float value = s.bias != kNowhere ? sums[r] + model[s.bias + o] : sums[r];
    y[(std::size_t{peer} * s.batch + b) * s.out + o] =
        from_float<T>(s.relu && value < 0 ? 0.0f : value);
  });
}

/// dx = g weight: sample by input.
template <class T>
__global__ void linear_backward(Arrays<T> arrays, const float* const* parameters, Sizes s, bool add,
                                T* dx) {
  backend::cuda::begin_launch();
  const unsigned peer = blockIdx.z;
  const float* model = parameters[peer];
  float sums[kRows] = {};
  multiply_tile<true, false>(
      s.batch, s.in, s.out,
      [&](unsigned b, unsigned o) { return gradient_of(arrays, s, peer, b, o); },
      [&](unsigned o, unsigned i) { return model[s.weight + std::size_t{o} * s.in + i]; }, sums,
      nullptr);
  for_each_entry(s.batch, s.in, [&](unsigned b, unsigned i, unsigned r) {
    store_gradient(sums[r], add, dx + (std::size_t{peer} * s.batch + b) * s.in + i);
  });
}

/// d weight = g^T x: output by input. d bias = the sum of g over the samples.
template <class T>
__global__ void linear_weights(Arrays<T> arrays, Sizes s, float* const* gradient) {
  backend::cuda::begin_launch();
  const unsigned peer = blockIdx.z;
  float sums[kRows] = {}, total = 0;
  const bool makes_bias = s.bias != kNowhere && blockIdx.x == 0;
  multiply_tile<false, false>(
      s.out, s.in, s.batch,
      [&](unsigned o, unsigned b) { return gradient_of(arrays, s, peer, b, o); },
      [&](unsigned b, unsigned i) {
        return to_float(arrays.x[(std::size_t{peer} * s.batch + b) * s.in + i]);
      },
      sums, makes_bias ? &total : nullptr);
  float* model_gradient = gradient[peer];
  for_each_entry(s.out, s.in, [&](unsigned o, unsigned i, unsigned r) {
    model_gradient[s.weight + std::size_t{o} * s.in + i] = sums[r];
  });
  const unsigned o = blockIdx.y * kTile + threadIdx.x;
  if (makes_bias && threadIdx.x < kTile && o < s.out) model_gradient[s.bias + o] = total;
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
      tape.launch(linear_forward<T>, grid(sizes_.batch, sizes_.out), kThreads, 0,
                  static_cast<const T*>(site_.x->data), call.parameters, sizes_,
                  static_cast<T*>(site_.y->data));
    });
  }

  void backward(Tape& tape, const Call& call) override {
    with_storage(site_.precision, [&]<class T>(std::type_identity<T>) {
      const Arrays<T> arrays{.x = static_cast<const T*>(site_.x->data),
                             .y = static_cast<const T*>(site_.y->data),
                             .dy = static_cast<const T*>(site_.y->gradient)};
      tape.launch(linear_weights<T>, grid(sizes_.out, sizes_.in), kThreads, 0, arrays, sizes_,
                  call.gradient);
      if (!site_.x->wants_gradient()) return;
      tape.launch(linear_backward<T>, grid(sizes_.batch, sizes_.in), kThreads, 0, arrays,
                  call.parameters, sizes_, site_.x->adds(), static_cast<T*>(site_.x->gradient));
    });
  }

 private:
  dim3 grid(unsigned rows, unsigned columns) const {
    return {blocks_for(columns, kTile), blocks_for(rows, kTile),
            static_cast<unsigned>(site_.x->peers)};
  }

  Site site_;
  Sizes sizes_;
};

}  // namespace

std::unique_ptr<Step> make_linear(const model::Linear& linear, const Site& site) {
  return std::make_unique<LinearStep>(linear, site);
}

}  // namespace hearsay::engine::cuda
