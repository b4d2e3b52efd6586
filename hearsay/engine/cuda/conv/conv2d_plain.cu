#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/extent.h"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::LaunchRecorder;

constexpr unsigned kThreads = 128;

struct Sizes {
  Extent in, out;
  unsigned kernel, stride, padding;
  unsigned relu;
  std::size_t weight, bias;  ///< where they lie in a model; kNowhere: there is none

  __device__ std::size_t weight_at(unsigned o, unsigned i, unsigned k, unsigned l) const {
    return weight + ((std::size_t{o} * in.channels + i) * kernel + k) * kernel + l;
  }
  __device__ std::size_t input_at(unsigned sample, unsigned row, unsigned column) const {
    return ((std::size_t{sample} * in.height + row) * in.width + column) * in.channels;
  }
  __device__ std::size_t output_at(unsigned sample, unsigned row, unsigned column) const {
    return ((std::size_t{sample} * out.height + row) * out.width + column) * out.channels;
  }
};

/// y(b, row, col, o) = relu(bias_o + sum over k, l, i of w(o, i, k, l) x(b, row s + k - p,
/// col s + l - p, i)), for any kernel size, stride s and padding p: the slow fallback, and the
/// reference of the tests. Grid: ceil(entries of y / 128), 128 threads, one output entry per
/// thread, channels fastest. No tiling and no shared memory; a thread has one sum in float, over k,
/// l, i ascending. Neighbouring threads read weights in.channels kernel^2 floats apart, so it lives
/// off the caches; not measured.
template <class T>
__global__ void convolve(const T* x, const float* const* parameters, Sizes s, T* y) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= s.out.size) return;
  const unsigned o = at % s.out.channels, column = at / s.out.channels % s.out.width;
  const unsigned row = at / s.out.channels / s.out.width % s.out.height;
  const unsigned sample = at / s.out.channels / s.out.width / s.out.height;
  const float* model = parameters[sample / s.in.batch];
  float sum = s.bias != kNowhere ? model[s.bias + o] : 0.0f;
  for (unsigned k = 0; k < s.kernel; ++k) {
    const unsigned r = row * s.stride + k - s.padding;  // wraps if outside
    if (r >= s.in.height) continue;
    for (unsigned l = 0; l < s.kernel; ++l) {
      const unsigned c = column * s.stride + l - s.padding;
      if (c >= s.in.width) continue;
      const T* from = x + s.input_at(sample, r, c);
      for (unsigned i = 0; i < s.in.channels; ++i) {
        sum = fmaf(model[s.weight_at(o, i, k, l)], to_float(from[i]), sum);
      }
    }
  }
  y[at] = from_float<T>(s.relu && sum < 0 ? 0.0f : sum);
}

/// grad_output of one entry, 0 where relu's output is not positive.
template <class T>
__device__ float gradient_of(const T* y, const T* dy, const Sizes& s, std::size_t at) {
  return s.relu && !(to_float(y[at]) > 0) ? 0.0f : to_float(dy[at]);
}

/// dx(b, row, col, i) = sum over k, l, o of w(o, i, k, l) g(b, r, c, o) with r s + k - p = row and
/// c s + l - p = col: backward to the input as a gather, so no two threads write one entry. Grid:
/// ceil(entries of x / 128), 128 threads, one input entry per thread. The sum is in float, over k,
/// l, o ascending. No shared memory. Not measured.
template <class T>
__global__ void pull_back(const T* y, const T* dy, const float* const* parameters, Sizes s,
                          bool add, T* dx) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= s.in.size) return;
  const unsigned i = at % s.in.channels, column = at / s.in.channels % s.in.width;
  const unsigned row = at / s.in.channels / s.in.width % s.in.height;
  const unsigned sample = at / s.in.channels / s.in.width / s.in.height;
  const float* model = parameters[sample / s.in.batch];
  float sum = 0;
  for (unsigned k = 0; k < s.kernel; ++k) {
    const unsigned r = row + s.padding - k;  // stride times the output's row
    if (row + s.padding < k || r % s.stride != 0 || r / s.stride >= s.out.height) continue;
    for (unsigned l = 0; l < s.kernel; ++l) {
      const unsigned c = column + s.padding - l;
      if (column + s.padding < l || c % s.stride != 0 || c / s.stride >= s.out.width) continue;
      const std::size_t from = s.output_at(sample, r / s.stride, c / s.stride);
      for (unsigned o = 0; o < s.out.channels; ++o) {
        sum = fmaf(model[s.weight_at(o, i, k, l)], gradient_of(y, dy, s, from + o), sum);
      }
    }
  }
  store_gradient(sum, add, dx + at);
}

/// dw(o, i, k, l) = sum over b, row, col of g(b, row, col, o) x(b, row s + k - p, col s + l - p,
/// i). Grid (ceil(weights / 128), peers), 128 threads, one weight per thread, which reads the whole
/// batch. A float sum per sample (row, then column, ascending), added in double over the samples
/// ascending. No shared memory. Latency of dependent reads evidently bounds it; not measured.
template <class T>
__global__ void weight_gradient(const T* x, const T* y, const T* dy, Sizes s,
                                float* const* gradient) {
  backend::cuda::begin_launch();
  const unsigned weights = s.out.channels * s.in.channels * s.kernel * s.kernel;
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= weights) return;
  const unsigned l = at % s.kernel, k = at / s.kernel % s.kernel;
  const unsigned i = at / s.kernel / s.kernel % s.in.channels;
  const unsigned o = at / s.kernel / s.kernel / s.in.channels;
  double sum = 0;
  for (unsigned b = 0; b < s.in.batch; ++b) {
    const unsigned sample = blockIdx.y * s.in.batch + b;
    float part = 0;
    for (unsigned row = 0; row < s.out.height; ++row) {
      const unsigned r = row * s.stride + k - s.padding;  // wraps if outside
      if (r >= s.in.height) continue;
      for (unsigned column = 0; column < s.out.width; ++column) {
        const unsigned c = column * s.stride + l - s.padding;
        if (c >= s.in.width) continue;
        part = fmaf(gradient_of(y, dy, s, s.output_at(sample, row, column) + o),
                    to_float(x[s.input_at(sample, r, c) + i]), part);
      }
    }
    sum += static_cast<double>(part);
  }
  gradient[blockIdx.y][s.weight + at] = static_cast<float>(sum);
}

/// db(o) = sum of g over the peer's samples and pixels, ascending, in double. Grid (ceil(channels /
/// 128), peers), 128 threads, one output channel per thread. Few threads with long serial sums:
/// bound by latency; not measured.
template <class T>
__global__ void bias_gradient(const T* y, const T* dy, Sizes s, float* const* gradient) {
  backend::cuda::begin_launch();
  const unsigned o = blockIdx.x * kThreads + threadIdx.x;
  if (o >= s.out.channels) return;
  const unsigned pixels = s.out.batch * s.out.height * s.out.width;
  double sum = 0;
  for (unsigned p = 0; p < pixels; ++p) {
    const std::size_t at = (std::size_t{blockIdx.y} * pixels + p) * s.out.channels + o;
    sum += static_cast<double>(gradient_of(y, dy, s, at));
  }
  gradient[blockIdx.y][s.bias + o] = static_cast<float>(sum);
}

class PlainConv2dStep final : public Step {
 public:
  PlainConv2dStep(const model::Conv2d& conv, const Site& site)
      : site_(site),
        sizes_{.in = Extent(*site.x),
               .out = Extent(*site.y),
               .kernel = static_cast<unsigned>(conv.kernel),
               .stride = static_cast<unsigned>(conv.stride),
               .padding = static_cast<unsigned>(conv.padding),
               .relu = site.relu,
               .weight = site.places.parameter[0],
               .bias = conv.bias ? site.places.parameter[1] : kNowhere} {}

  void forward(LaunchRecorder& recorder, const Call& call) override {
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      recorder.launch(convolve<T>, blocks_for(sizes_.out.size, kThreads), kThreads, 0,
                      static_cast<const T*>(site_.x->data), call.parameters, sizes_,
                      static_cast<T*>(site_.y->data));
    });
  }

  void backward(LaunchRecorder& recorder, const Call& call) override {
    const auto peers = static_cast<unsigned>(site_.x->peers);
    const std::size_t weights =
        std::size_t{sizes_.out.channels} * sizes_.in.channels * sizes_.kernel * sizes_.kernel;
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      const auto* y = static_cast<const T*>(site_.y->data);
      const auto* dy = static_cast<const T*>(site_.y->gradient);
      recorder.launch(weight_gradient<T>, dim3(blocks_for(weights, kThreads), peers), kThreads, 0,
                      static_cast<const T*>(site_.x->data), y, dy, sizes_, call.gradient);
      if (sizes_.bias != kNowhere) {
        recorder.launch(bias_gradient<T>, dim3(blocks_for(sizes_.out.channels, kThreads), peers),
                        kThreads, 0, y, dy, sizes_, call.gradient);
      }
      if (!site_.x->wants_gradient()) return;
      recorder.launch(pull_back<T>, blocks_for(sizes_.in.size, kThreads), kThreads, 0, y, dy,
                      call.parameters, sizes_, site_.x->adds(), static_cast<T*>(site_.x->gradient));
    });
  }

 private:
  Site site_;
  Sizes sizes_;
};

}  // namespace

std::unique_ptr<Step> make_plain_conv2d(const model::Conv2d& conv, const Site& site) {
  return std::make_unique<PlainConv2dStep>(conv, site);
}

}  // namespace hearsay::engine::cuda
