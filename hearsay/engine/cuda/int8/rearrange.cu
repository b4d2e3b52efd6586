#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/int8/block.cuh"
#include "hearsay/engine/cuda/int8/step.h"
#include "hearsay/engine/cuda/numbers.h"

/// Operations that move codes and keep their scales, and the mean over pixels. Their kernels have a
/// thread per entry and are bound by memory or latency.
namespace hearsay::engine::cuda::int8 {

namespace {

using backend::cuda::LaunchRecorder;

/// An entry of a tensor.
struct Place {
  __device__ Place(const Extent& e, unsigned at)
      : channel(at % e.channels),
        x(at / e.channels % e.width),
        y(at / e.channels / e.width % e.height),
        sample(at / e.size()) {}
  unsigned channel, x, y, sample;
};
__device__ std::size_t at(const Extent& e, unsigned sample, unsigned y, unsigned x,
                          unsigned channel) {
  return ((std::size_t{sample} * e.height + y) * e.width + x) * e.channels + channel;
}
__device__ void write_gradient(float* dx, std::size_t to, float d, unsigned add) {
  dx[to] = add ? dx[to] + d : d;
}
/// By the first thread of a sample.
__device__ void copy_scale(const Extent& y, unsigned i, const float* from, float* to) {
  if (i % y.size() == 0) to[i / y.size()] = from[i / y.size()];
}

/// `before` new channels before those of x, of every second pixel.
struct Widening {
  Extent x, y;
  unsigned channels, before;  ///< of x that are not padding; of y
};
__global__ void shortcut_forward(Widening s, const std::int8_t* x, const float* scales,
                                 std::int8_t* y, float* y_scales) {
  backend::cuda::begin_launch();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.y.samples * s.y.size()) return;
  const Place p(s.y, i);
  const unsigned channel = p.channel - s.before;  // wraps if negative
  y[i] = channel < s.channels ? x[at(s.x, p.sample, 2 * p.y, 2 * p.x, channel)] : std::int8_t{0};
  copy_scale(s.y, i, scales, y_scales);
}
__global__ void shortcut_backward(Widening s, const float* dy, unsigned add, float* dx) {
  backend::cuda::begin_launch();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.x.samples * s.x.size()) return;
  const Place p(s.x, i);
  const bool read = p.y % 2 == 0 && p.x % 2 == 0 && p.y / 2 < s.y.height && p.x / 2 < s.y.width &&
                    p.channel < s.channels;
  write_gradient(dx, i, read ? dy[at(s.y, p.sample, p.y / 2, p.x / 2, p.channel + s.before)] : 0.0f,
                 add);
}

class ShortcutStep final : public Step {
 public:
  explicit ShortcutStep(const Site& site)
      : site_(site),
        sizes_{.x = Extent(*site.x),
               .y = Extent(*site.y),
               .channels = static_cast<unsigned>(site.x->shape.channels),
               .before =
                   static_cast<unsigned>((site.y->shape.channels - site.x->shape.channels) / 2)} {}

  void forward(LaunchRecorder& recorder, const Call&) override {
    recorder.launch(shortcut_forward, blocks_for(site_.y->size(), 256), 256, 0, sizes_,
                    site_.x->codes, site_.x->scales, site_.y->codes, site_.y->scales);
  }
  void backward(LaunchRecorder& recorder, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    recorder.launch(shortcut_backward, blocks_for(site_.x->size(), 256), 256, 0, sizes_,
                    site_.y->gradient, site_.x->adds(), site_.x->gradient);
  }

 private:
  Site site_;
  Widening sizes_;
};

struct Pool {
  Extent x, y;
  unsigned kernel, stride, padding, unused;
};

/// The place in x of the window's maximum, by rows the first of equal ones.
__device__ std::size_t place_of_maximum(const Pool& s, const std::int8_t* x, const Place& p) {
  int most = -129;
  std::size_t found = 0;
  for (unsigned k = 0; k < s.kernel; ++k) {
    const unsigned row = p.y * s.stride + k - s.padding;  // wraps if negative
    if (row >= s.x.height) continue;
    for (unsigned l = 0; l < s.kernel; ++l) {
      const unsigned column = p.x * s.stride + l - s.padding;
      if (column >= s.x.width) continue;
      const std::size_t from = at(s.x, p.sample, row, column, p.channel);
      if (x[from] > most) most = x[from], found = from;
    }
  }
  return found;
}
__global__ void pool_forward(Pool s, const std::int8_t* x, const float* scales, std::int8_t* y,
                             float* y_scales) {
  backend::cuda::begin_launch();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.y.samples * s.y.size()) return;
  y[i] = x[place_of_maximum(s, x, Place(s.y, i))];
  copy_scale(s.y, i, scales, y_scales);
}
/// Every entry of x looks for the windows whose maximum it is, by rows: their gradients are added
/// in the order in which the CPU gives them.
__global__ void pool_backward(Pool s, const std::int8_t* x, const float* dy, unsigned add,
                              float* dx) {
  backend::cuda::begin_launch();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.x.samples * s.x.size()) return;
  const Place p(s.x, i);
  const auto first = [&](unsigned place) {  // window that reaches it
    const unsigned reach = place + s.padding;
    return reach < s.kernel ? 0u : (reach - s.kernel) / s.stride + 1;
  };
  float d = 0;
  for (unsigned y = first(p.y); y < s.y.height && y * s.stride <= p.y + s.padding; ++y) {
    for (unsigned c = first(p.x); c < s.y.width && c * s.stride <= p.x + s.padding; ++c) {
      const std::size_t window = at(s.y, p.sample, y, c, p.channel);
      if (place_of_maximum(s, x, Place(s.y, static_cast<unsigned>(window))) == i) d += dy[window];
    }
  }
  write_gradient(dx, i, d, add);
}

class MaxPoolStep final : public Step {
 public:
  MaxPoolStep(const model::MaxPool& pool, const Site& site)
      : site_(site),
        sizes_{.x = Extent(*site.x),
               .y = Extent(*site.y),
               .kernel = static_cast<unsigned>(pool.kernel),
               .stride = static_cast<unsigned>(pool.stride),
               .padding = static_cast<unsigned>(pool.padding),
               .unused = 0} {}

  void forward(LaunchRecorder& recorder, const Call&) override {
    recorder.launch(pool_forward, blocks_for(site_.y->size(), 256), 256, 0, sizes_, site_.x->codes,
                    site_.x->scales, site_.y->codes, site_.y->scales);
  }
  void backward(LaunchRecorder& recorder, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    recorder.launch(pool_backward, blocks_for(site_.x->size(), 256), 256, 0, sizes_, site_.x->codes,
                    site_.y->gradient, site_.x->adds(), site_.x->gradient);
  }

 private:
  Site site_;
  Pool sizes_;
};

/// y = Q8(sum of q) in units of s / pixels. A block per sample, a thread per channel.
__global__ void __launch_bounds__(kThreads)
    mean_forward(Extent x, const std::int8_t* codes, const float* scales, std::int8_t* y,
                 float* y_scales) {
  backend::cuda::begin_launch();
  __shared__ std::uint32_t shared_max[kWarps];
  const unsigned n = blockIdx.x;
  const std::int8_t* q = codes + std::size_t{n} * x.size();
  const auto sum_of = [&](unsigned c) {
    int sum = 0;
    for (unsigned p = 0; p < x.pixels(); ++p) sum += q[p * x.channels + c];
    return sum;
  };
  std::uint32_t most = 0;
  int own = 0;
  for (unsigned c = threadIdx.x; c < x.channels; c += kThreads) {
    own = sum_of(c);
    most = max(most, static_cast<unsigned>(abs(own)));
  }
  const auto m = static_cast<float>(max_of_block(most, shared_max));
  const float factor = factor_of(m, kTop8);
  for (unsigned c = threadIdx.x; c < x.channels; c += kThreads) {
    const int sum = x.channels <= kThreads ? own : sum_of(c);
    y[n * x.channels + c] = code8(static_cast<float>(sum), factor);
  }
  if (threadIdx.x == 0) {
    y_scales[n] = scale_of(m, scales[n] / static_cast<float>(x.pixels()), kTop8);
  }
}
__global__ void mean_backward(Extent x, const float* dy, unsigned add, float* dx) {
  backend::cuda::begin_launch();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= x.samples * x.size()) return;
  const float share = 1 / static_cast<float>(x.pixels());
  write_gradient(dx, i, dy[i / x.size() * x.channels + i % x.channels] * share, add);
}

class MeanStep final : public Step {
 public:
  explicit MeanStep(const Site& site) : site_(site) {}

  void forward(LaunchRecorder& recorder, const Call&) override {
    recorder.launch(mean_forward, static_cast<unsigned>(site_.x->samples()), kThreads, 0,
                    Extent(*site_.x), site_.x->codes, site_.x->scales, site_.y->codes,
                    site_.y->scales);
  }
  void backward(LaunchRecorder& recorder, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    recorder.launch(mean_backward, blocks_for(site_.x->size(), 256), 256, 0, Extent(*site_.x),
                    site_.y->gradient, site_.x->adds(), site_.x->gradient);
  }

 private:
  Site site_;
};

/// From pixels of channels to one vector in the order channel, row, column.
struct Vector {
  Extent x, y;
  unsigned channels, size;  ///< of x, y that are not padding
};
__global__ void flatten_forward(Vector s, const std::int8_t* x, const float* scales, std::int8_t* y,
                                float* y_scales) {
  backend::cuda::begin_launch();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.y.samples * s.y.size()) return;
  const unsigned j = i % s.y.size(), sample = i / s.y.size();
  y[i] =
      j < s.size
          ? x[std::size_t{sample} * s.x.size() + j % s.x.pixels() * s.x.channels + j / s.x.pixels()]
          : std::int8_t{0};
  copy_scale(s.y, i, scales, y_scales);
}
__global__ void flatten_backward(Vector s, const float* dy, unsigned add, float* dx) {
  backend::cuda::begin_launch();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.x.samples * s.x.size()) return;
  const unsigned sample = i / s.x.size(), channel = i % s.x.channels;
  const unsigned pixel = i % s.x.size() / s.x.channels;
  write_gradient(dx, i,
                 channel < s.channels
                     ? dy[std::size_t{sample} * s.y.size() + channel * s.x.pixels() + pixel]
                     : 0.0f,
                 add);
}

class FlattenStep final : public Step {
 public:
  explicit FlattenStep(const Site& site)
      : site_(site),
        sizes_{.x = Extent(*site.x),
               .y = Extent(*site.y),
               .channels = static_cast<unsigned>(site.x->shape.channels),
               .size = static_cast<unsigned>(site.x->shape.size())} {}

  void forward(LaunchRecorder& recorder, const Call&) override {
    recorder.launch(flatten_forward, blocks_for(site_.y->size(), 256), 256, 0, sizes_,
                    site_.x->codes, site_.x->scales, site_.y->codes, site_.y->scales);
  }
  void backward(LaunchRecorder& recorder, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    recorder.launch(flatten_backward, blocks_for(site_.x->size(), 256), 256, 0, sizes_,
                    site_.y->gradient, site_.x->adds(), site_.x->gradient);
  }

 private:
  Site site_;
  Vector sizes_;
};

}  // namespace

std::unique_ptr<Step> make_shortcut(const Site& site) {
  return std::make_unique<ShortcutStep>(site);
}
std::unique_ptr<Step> make_max_pool(const model::MaxPool& pool, const Site& site) {
  return std::make_unique<MaxPoolStep>(pool, site);
}
std::unique_ptr<Step> make_global_average_pool(const Site& site) {
  return std::make_unique<MeanStep>(site);
}
std::unique_ptr<Step> make_flatten(const Site& site) { return std::make_unique<FlattenStep>(site); }

}  // namespace hearsay::engine::cuda::int8
