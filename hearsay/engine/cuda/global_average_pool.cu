#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/backend/cuda/memory.h"
#include "hearsay/engine/cuda/norm/normalized.cuh"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;

constexpr unsigned kThreads = 256;
constexpr unsigned kAtOnce = 4;  ///< pixels whose loads a thread issues before it needs the first

/// Block (sample, slab of up to 256 W channels) has all pixels of a sample: a thread every
/// `rows`-th of them, channels first .. first + W - 1.
template <int W>
struct SamplePart {
  __device__ SamplePart(unsigned channels_, unsigned pixels_)
      : channels(channels_),
        pixels(pixels_),
        lanes(min(channels / W - blockIdx.y * kThreads, kThreads)),
        rows(kThreads / lanes),
        row(threadIdx.x / lanes),
        lane(threadIdx.x % lanes),
        first((blockIdx.y * kThreads + lane) * W) {}

  unsigned channels, pixels, lanes, rows, row, lane, first;

  /// Of the pooled value.
  __device__ unsigned at() const { return blockIdx.x * channels + first; }
  /// Calls body(j, place) for those of kAtOnce pixels from p on that the thread has.
  template <class Body>
  __device__ void for_pixels(unsigned p, const Body& body) const {
#pragma unroll
    for (unsigned j = 0; j < kAtOnce; ++j) {
      const unsigned pixel = p + j * rows;
      if (row < rows && pixel < pixels) {
        body(j, (blockIdx.x * pixels + pixel) * channels + first);
      }
    }
  }
};

/// y(b, c) = mean over the pixels of x(b, pixel, c). Grid (samples of all peers, slabs), 256
/// threads, W channels (16 bytes) per access. Registers: W sums in float. Shared memory: W x 256
/// floats (W = 4: 4,096 bytes, 8: 8,192) for the sums of rows, added ascending by row 0's threads
/// after each thread has summed its pixels ascending. Reads x once: bound by memory bandwidth or
/// latency; not measured.
template <class T, int W>
__global__ void __launch_bounds__(kThreads)
    mean_of_pixels(const T* x, unsigned channels, unsigned pixels, T* y) {
  backend::cuda::begin_launch();
  __shared__ float shared[W][kThreads];
  const SamplePart<W> part(channels, pixels);
  float sum[W] = {};
  for (unsigned p = part.row; p < pixels; p += kAtOnce * part.rows) {
    part.for_pixels(p, [&](unsigned, unsigned at) {
      float v[W];
      load(x + at, v);
#pragma unroll
      for (int k = 0; k < W; ++k) sum[k] += v[k];
    });
  }
#pragma unroll
  for (int k = 0; k < W; ++k) shared[k][threadIdx.x] = sum[k];
  __syncthreads();
  if (part.row != 0) return;
#pragma unroll
  for (int k = 0; k < W; ++k) {
    for (unsigned r = 1; r < part.rows; ++r) sum[k] += shared[k][r * part.lanes + part.lane];
    sum[k] /= static_cast<float>(pixels);
  }
  store(sum, y + part.at());
}

/// The batch norm that made x, and where the sums go that its backward needs: per sample, of the
/// gradient behind relu's mask, [sample][channel] (Tensor::gradient_sums). Null: not needed.
template <class T>
struct SumsOfNorm {
  float2* sums = nullptr;
  const T* x = nullptr;  ///< what was normalised
  const T* y = nullptr;  ///< the norm's output, where that does not follow from its input
  const Normal* normals = nullptr;  ///< [peer][channel]
  unsigned relu = 0;
  unsigned batch = 1;  ///< samples per peer
};

/// dx(b, pixel, c) = dy(b, c) / pixels, or that added to dx; if norm.sums, masked by relu, with the
/// sums over pixels of g and of g (x - mean) per sample, for the batch norm before the pooling.
/// Grid and threads as mean_of_pixels. Registers: W shares, Normals (4 W floats) and sums (2 W),
/// and 4 pixels of the norm's input (and output) whose loads are issued together. Shared memory: W
/// x 256 float2 (W = 4: 8,192 bytes, 8: 16,384). Sums: pixels of a thread ascending, then rows
/// ascending. Writes dx once and reads the norm's input once: bound by memory bandwidth or latency;
/// not measured.
template <class T, int W>
__global__ void __launch_bounds__(kThreads)
    spread_gradient(const T* dy, unsigned channels, unsigned pixels, bool add, T* dx,
                    SumsOfNorm<T> norm) {
  backend::cuda::begin_launch();
  __shared__ float2 shared[W][kThreads];
  const SamplePart<W> part(channels, pixels);
  float each[W], sum[W] = {}, product[W] = {};
  Normal normal[W] = {};
  load(dy + part.at(), each);
#pragma unroll
  for (int k = 0; k < W; ++k) {
    each[k] /= static_cast<float>(pixels);
    if (norm.sums == nullptr) continue;
    normal[k] = norm.normals[blockIdx.x / norm.batch * channels + part.first + k];
  }
  for (unsigned p = part.row; p < pixels; p += kAtOnce * part.rows) {
    Entries<T, W> norm_x[kAtOnce], norm_y[kAtOnce];
    if (norm.sums != nullptr) {
      part.for_pixels(p, [&](unsigned j, unsigned at) {
        norm_x[j] = load_entries<W>(norm.x + at);
        if (norm.y != nullptr) norm_y[j] = load_entries<W>(norm.y + at);
      });
    }
    part.for_pixels(p, [&](unsigned j, unsigned at) {
      float g[W], in[W], out[W] = {};
      if (add) load(dx + at, g);
#pragma unroll
      for (int k = 0; k < W; ++k) g[k] = add ? g[k] + each[k] : each[k];
      if (norm.sums != nullptr) {
        unpack<W, T>(norm_x[j], in);
        if (norm.y != nullptr) unpack<W, T>(norm_y[j], out);
#pragma unroll
        for (int k = 0; k < W; ++k) {
          const float passed = norm.y != nullptr ? out[k] : normalized(in[k], normal[k]);
          if (norm.relu != 0 && !(passed > 0)) g[k] = 0;
          sum[k] += g[k];
          product[k] = fmaf(g[k], in[k] - normal[k].mean, product[k]);
        }
      }
      store(g, dx + at);
    });
  }
  // Over the block's rows of pixels, ascending.
  if (norm.sums == nullptr) return;
#pragma unroll
  for (int k = 0; k < W; ++k) shared[k][threadIdx.x] = make_float2(sum[k], product[k]);
  __syncthreads();
  if (part.row != 0) return;
#pragma unroll
  for (int k = 0; k < W; ++k) {
    float2 all = shared[k][threadIdx.x];
    for (unsigned r = 1; r < part.rows; ++r) {
      const float2 more = shared[k][r * part.lanes + part.lane];
      all.x += more.x;
      all.y += more.y;
    }
    norm.sums[part.at() + k] = all;
  }
}

class GlobalAveragePoolStep final : public Step {
 public:
  explicit GlobalAveragePoolStep(const Site& site) : site_(site) {}

  void forward(LaunchRecorder& recorder, const Call&) override {
    with_width(site_.x->type, channels(),
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 recorder.launch(mean_of_pixels<T, W>, blocks(W), kThreads, 0,
                                 static_cast<const T*>(site_.x->data), channels(), pixels(),
                                 static_cast<T*>(site_.y->data));
               });
  }

  void backward(LaunchRecorder& recorder, const Call&) override {
    Tensor& x = *site_.x;
    if (!x.wants_gradient()) return;
    const bool add = x.adds();
    if (x.norm.x != nullptr && x.is_complete()) {
      if (sums_.size() == 0) sums_ = Memory<float2>(site_.y->size());
      x.gradient_sums = {sums_.data(), x.batch};
    }
    with_width(site_.x->type, channels(),
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 SumsOfNorm<T> norm{.batch = static_cast<unsigned>(x.batch)};
                 if (x.gradient_sums.parts != nullptr) {
                   norm.sums = sums_.data();
                   norm.x = static_cast<const T*>(x.norm.x);
                   norm.y =
                       x.norm.relu && x.norm.residual ? static_cast<const T*>(x.data) : nullptr;
                   norm.normals = x.norm.normals;
                   norm.relu = x.norm.relu;
                 }
                 recorder.launch(spread_gradient<T, W>, blocks(W), kThreads, 0,
                                 static_cast<const T*>(site_.y->gradient), channels(), pixels(),
                                 add, static_cast<T*>(x.gradient), norm);
               });
  }

 private:
  unsigned channels() const { return static_cast<unsigned>(site_.x->shape.channels); }
  unsigned pixels() const { return static_cast<unsigned>(site_.x->shape.pixels()); }
  dim3 blocks(int width) const {
    return {static_cast<unsigned>(site_.x->peers * site_.x->batch),
            blocks_for(channels() / static_cast<unsigned>(width), kThreads)};
  }

  Site site_;
  Memory<float2> sums_;
};

}  // namespace

std::unique_ptr<Step> make_global_average_pool(const Site& site) {
  return std::make_unique<GlobalAveragePoolStep>(site);
}

}  // namespace hearsay::engine::cuda
