#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/norm/sample_sums.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;
using model::LayerNorm;

/// Of a sample: y_j = weight_j (x_j - mean) r + bias_j.
struct Normal {
  float mean, r;
};

struct Sizes {
  unsigned channels, pixels, features, batch;
  std::size_t weight, bias;  ///< where they lie in a model

  /// The feature (channel, row, column) that lies at that place of a sample.
  __device__ unsigned feature(unsigned at) const { return at % channels * pixels + at / channels; }
};

/// The sum over the sample's places of terms(place), in double, the same for all threads of the
/// block. Each thread sums every 512th place ascending, then a tree in shared memory (512 doubles,
/// 4,096 bytes) halves the threads: an order of the number of features only.
template <class Terms>
__device__ double sum_sample(unsigned features, const Terms& terms) {
  __shared__ double shared[kSampleThreads];
  double sum = 0;
  for (unsigned at = threadIdx.x; at < features; at += kSampleThreads) {
    sum += static_cast<double>(terms(at));
  }
  __syncthreads();  // other threads may still read the last sum
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kSampleThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  return shared[0];
}

/// y_j = weight_j (x_j - mean) r + bias_j over all features j of a sample; parameters are in the
/// order (channel, row, column), tensors in (row, column, channel). Grid: one block per sample of
/// all peers, 512 threads striding over its places. Shared memory: the 4,096 bytes of each
/// sum_sample. Three passes over x (mean, squares, result), after the first from caches. Parameters
/// are read `pixels` apart by neighbouring threads. Not measured.
template <class T>
__global__ void __launch_bounds__(kSampleThreads)
    layer_norm(const T* x, const float* const* parameters, Sizes s, Normal* normals, T* y) {
  backend::cuda::begin_launch();
  const std::size_t first = std::size_t{blockIdx.x} * s.features;
  const float* model = parameters[blockIdx.x / s.batch];
  x += first;
  const auto mean = static_cast<float>(
      sum_sample(s.features, [&](unsigned at) { return to_float(x[at]); }) / s.features);
  const double variance = sum_sample(s.features,
                                     [&](unsigned at) {
                                       const float apart = to_float(x[at]) - mean;
                                       return apart * apart;
                                     }) /
                          s.features;
  const auto r = static_cast<float>(rsqrt(variance + LayerNorm::kEpsilon));
  if (threadIdx.x == 0) normals[blockIdx.x] = {mean, r};
  for (unsigned at = threadIdx.x; at < s.features; at += kSampleThreads) {
    const unsigned j = s.feature(at);
    y[first + at] =
        from_float<T>(fmaf((to_float(x[at]) - mean) * r, model[s.weight + j], model[s.bias + j]));
  }
}

/// With g the gradient of y, h = weight g, k = (x - mean) r, and means over the features:
/// dx = r (h - mean(h) - k mean(h k)). Grid: one block per sample of all peers, 512 threads. Shared
/// memory: sum_sample's. Three passes over dy, two over x; h and k are recomputed. Not measured.
template <class T>
__global__ void __launch_bounds__(kSampleThreads)
    layer_norm_backward(const T* x, const T* dy, const float* const* parameters, Sizes s,
                        const Normal* normals, bool add, T* dx) {
  backend::cuda::begin_launch();
  const std::size_t first = std::size_t{blockIdx.x} * s.features;
  const float* weight = parameters[blockIdx.x / s.batch] + s.weight;
  const Normal normal = normals[blockIdx.x];
  const auto h = [&](unsigned at) { return weight[s.feature(at)] * to_float(dy[first + at]); };
  const auto k = [&](unsigned at) { return (to_float(x[first + at]) - normal.mean) * normal.r; };
  const auto mean = static_cast<float>(sum_sample(s.features, h) / s.features);
  const auto product = static_cast<float>(
      sum_sample(s.features, [&](unsigned at) { return h(at) * k(at); }) / s.features);
  for (unsigned at = threadIdx.x; at < s.features; at += kSampleThreads) {
    store_gradient(normal.r * (h(at) - mean - k(at) * product), add, dx + first + at);
  }
}

/// d weight_j = the sum over the peer's samples of g_j k_j, d bias_j = of g_j, samples ascending,
/// in double. Grid (ceil(features / 128), peers), 128 threads, one feature per thread; neighbouring
/// threads read neighbouring places. No shared memory. Not measured.
template <class T>
__global__ void layer_norm_weights(const T* x, const T* dy, Sizes s, const Normal* normals,
                                   float* const* gradient) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x, peer = blockIdx.y;
  if (at >= s.features) return;
  double sum = 0, product = 0;
  for (unsigned b = 0; b < s.batch; ++b) {
    const std::size_t sample = std::size_t{peer} * s.batch + b, place = sample * s.features + at;
    const Normal normal = normals[sample];
    const float g = to_float(dy[place]);
    sum += static_cast<double>(g);
    product += static_cast<double>(g * (to_float(x[place]) - normal.mean) * normal.r);
  }
  gradient[peer][s.weight + s.feature(at)] = static_cast<float>(product);
  gradient[peer][s.bias + s.feature(at)] = static_cast<float>(sum);
}

class LayerNormStep final : public Step {
 public:
  explicit LayerNormStep(const Site& site)
      : site_(site),
        sizes_{.channels = static_cast<unsigned>(site.x->shape.channels),
               .pixels = static_cast<unsigned>(site.x->shape.pixels()),
               .features = static_cast<unsigned>(site.x->shape.size()),
               .batch = static_cast<unsigned>(site.x->batch),
               .weight = site.places.parameter[0],
               .bias = site.places.parameter[1]},
        normals_(samples()) {}

  void forward(LaunchRecorder& recorder, const Call& call) override {
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      recorder.launch(layer_norm<T>, samples(), kSampleThreads, 0,
                      static_cast<const T*>(site_.x->data), call.parameters, sizes_,
                      normals_.data(), static_cast<T*>(site_.y->data));
    });
  }

  void backward(LaunchRecorder& recorder, const Call& call) override {
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      const auto* x = static_cast<const T*>(site_.x->data);
      const auto* dy = static_cast<const T*>(site_.y->gradient);
      const dim3 grid(blocks_for(sizes_.features, 128), static_cast<unsigned>(site_.x->peers));
      recorder.launch(layer_norm_weights<T>, grid, 128, 0, x, dy, sizes_, normals_.data(),
                      call.gradient);
      if (!site_.x->wants_gradient()) return;
      recorder.launch(layer_norm_backward<T>, samples(), kSampleThreads, 0, x, dy, call.parameters,
                      sizes_, normals_.data(), site_.x->adds(), static_cast<T*>(site_.x->gradient));
    });
  }

 private:
  unsigned samples() const { return static_cast<unsigned>(site_.x->peers * site_.x->batch); }

  Site site_;
  Sizes sizes_;
  Memory<Normal> normals_;
};

}  // namespace

std::unique_ptr<Step> make_layer_norm(const Site& site) {
  return std::make_unique<LayerNormStep>(site);
}

}  // namespace hearsay::engine::cuda
