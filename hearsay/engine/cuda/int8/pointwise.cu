#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/int8/block.cuh"
#include "hearsay/engine/cuda/int8/step.h"
#include "hearsay/engine/cuda/numbers.h"

/// Operations entry by entry: relu, sums and dropout.
namespace hearsay::engine::cuda::int8 {

namespace {

using backend::cuda::LaunchRecorder;

/// dx, or added to what is there: the gradients of a value's readers are added one after another.
__device__ void write_gradient(float* dx, std::size_t at, float d, unsigned add) {
  dx[at] = add ? dx[at] + d : d;
}

/// y = max(x, 0) in codes; scales are copied by the first thread of a sample. Four entries per
/// thread; bound by memory.
__global__ void relu_forward(const std::uint32_t* x, const float* scales, unsigned words,
                             unsigned words_of_sample, std::uint32_t* y, float* y_scales) {
  backend::cuda::begin_launch();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  y[i] = relu4(x[i]);
  if (i % words_of_sample == 0) y_scales[i / words_of_sample] = scales[i / words_of_sample];
}

/// dx = dy where the code of y is positive, else 0; without codes dy. Four entries per thread.
__global__ void masked_backward(const std::uint32_t* y, const float* dy, unsigned words,
                                unsigned add, float* dx) {
  backend::cuda::begin_launch();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  const std::uint32_t word = y == nullptr ? 0x01010101u : y[i];
  for (int k = 0; k < 4; ++k) {
    const std::size_t at = std::size_t{i} * 4 + k;
    write_gradient(dx, at, code_of(word, k) > 0 ? dy[at] : 0.0f, add);
  }
}

class ReluStep final : public Step {
 public:
  explicit ReluStep(const Site& site)
      : site_(site), words_(static_cast<unsigned>(site.x->size() / 4)) {}

  void forward(LaunchRecorder& recorder, const Call&) override {
    const Tensor &x = *site_.x, &y = *site_.y;
    recorder.launch(relu_forward, blocks_for(words_, 256), 256, 0,
                    reinterpret_cast<const std::uint32_t*>(x.codes), x.scales, words_,
                    static_cast<unsigned>(x.per_sample() / 4),
                    reinterpret_cast<std::uint32_t*>(y.codes), y.scales);
  }
  void backward(LaunchRecorder& recorder, const Call&) override {
    Tensor &x = *site_.x, &y = *site_.y;
    if (!x.wants_gradient()) return;
    recorder.launch(masked_backward, blocks_for(words_, 256), 256, 0,
                    reinterpret_cast<const std::uint32_t*>(y.codes), y.gradient, words_, x.adds(),
                    x.gradient);
  }

 private:
  Site site_;
  unsigned words_;
};

struct Terms {
  const std::uint32_t *a, *b;
  const float *a_scales, *b_scales;
};

/// y = Q8(a + b), then relu. A block per sample; codes are read twice.
__global__ void __launch_bounds__(kThreads)
    add_forward(Terms terms, unsigned words_of_sample, unsigned with_relu, std::uint32_t* y,
                float* y_scales) {
  backend::cuda::begin_launch();
  __shared__ std::uint32_t shared_max[kWarps];
  const unsigned n = blockIdx.x;
  const std::size_t first = std::size_t{n} * words_of_sample;
  const float a_scale = terms.a_scales[n], b_scale = terms.b_scales[n];
  const auto sum = [&](std::uint32_t a, std::uint32_t b, int k) {
    return static_cast<float>(code_of(a, k)) * a_scale +
           static_cast<float>(code_of(b, k)) * b_scale;
  };
  std::uint32_t most = 0;
  for (unsigned i = threadIdx.x; i < words_of_sample; i += kThreads) {
    for (int k = 0; k < 4; ++k) {
      most = max(most, magnitude_bits(sum(terms.a[first + i], terms.b[first + i], k)));
    }
  }
  const float m = __uint_as_float(max_of_block(most, shared_max));
  const float factor = factor_of(m, kTop8);
  if (threadIdx.x == 0) y_scales[n] = scale_of(m, 1, kTop8);
  for (unsigned i = threadIdx.x; i < words_of_sample; i += kThreads) {
    const std::uint32_t a = terms.a[first + i], b = terms.b[first + i];
    const std::uint32_t word = pack4(code8(sum(a, b, 0), factor), code8(sum(a, b, 1), factor),
                                     code8(sum(a, b, 2), factor), code8(sum(a, b, 3), factor));
    y[first + i] = with_relu ? relu4(word) : word;
  }
}

class AddStep final : public Step {
 public:
  explicit AddStep(const Site& site)
      : site_(site), words_(static_cast<unsigned>(site.y->size() / 4)) {}

  void forward(LaunchRecorder& recorder, const Call&) override {
    const Tensor &a = *site_.x, &b = *site_.residual, &y = *site_.y;
    recorder.launch(add_forward, static_cast<unsigned>(y.samples()), kThreads, 0,
                    {.a = reinterpret_cast<const std::uint32_t*>(a.codes),
                     .b = reinterpret_cast<const std::uint32_t*>(b.codes),
                     .a_scales = a.scales,
                     .b_scales = b.scales},
                    static_cast<unsigned>(y.per_sample() / 4), site_.relu,
                    reinterpret_cast<std::uint32_t*>(y.codes), y.scales);
  }
  void backward(LaunchRecorder& recorder, const Call&) override {
    const Tensor& y = *site_.y;
    for (Tensor* term : {site_.x, site_.residual}) {
      if (!term->wants_gradient()) continue;
      recorder.launch(masked_backward, blocks_for(words_, 256), 256, 0,
                      site_.relu ? reinterpret_cast<const std::uint32_t*>(y.codes) : nullptr,
                      y.gradient, words_, term->adds(), term->gradient);
    }
  }

 private:
  Site site_;
  unsigned words_;
};

struct Rule {
  float rate, keep_scale;
  unsigned operation, channels, padded_channels, pixels, batch, entries;
};

/// Whether entry `at` (sample, pixel, padded channel) is dropped: model/operation.h.
__device__ bool is_dropped(const Rule& rule, const StreamKey* keys, unsigned at) {
  const unsigned channel = at % rule.padded_channels;
  const unsigned pixel = at / rule.padded_channels % rule.pixels;
  const unsigned sample = at / rule.padded_channels / rule.pixels;
  if (channel >= rule.channels) return false;  // zero already
  const std::uint64_t index = (std::uint64_t{rule.operation} << 40) +
                              std::uint64_t{sample % rule.batch} * rule.channels * rule.pixels +
                              std::uint64_t{channel} * rule.pixels + pixel;
  const unsigned random = keys[sample / rule.batch].stream(Purpose::kDropout).word(index);
  return to_unit_float(random) < rule.rate;
}

/// Codes are 0 where they are dropped, and the scale is s (1 / (1 - rate)); without keys a copy.
__global__ void drop_forward(const std::int8_t* x, const float* scales, const StreamKey* keys,
                             Rule rule, std::int8_t* y, float* y_scales) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= rule.entries) return;
  y[at] = keys != nullptr && is_dropped(rule, keys, at) ? std::int8_t{0} : x[at];
  const unsigned size = rule.padded_channels * rule.pixels;
  if (at % size == 0) y_scales[at / size] = scales[at / size] * (keys ? rule.keep_scale : 1.0f);
}
__global__ void drop_backward(const float* dy, const StreamKey* keys, Rule rule, unsigned add,
                              float* dx) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= rule.entries) return;
  float d = dy[at];
  if (keys != nullptr) d = is_dropped(rule, keys, at) ? 0.0f : d * rule.keep_scale;
  write_gradient(dx, at, d, add);
}

class DropoutStep final : public Step {
 public:
  DropoutStep(double rate, const Site& site)
      : site_(site),
        rule_{.rate = static_cast<float>(rate),
              .keep_scale = static_cast<float>(1 / (1 - rate)),
              .operation = static_cast<unsigned>(site.index),
              .channels = static_cast<unsigned>(site.x->shape.channels),
              .padded_channels = static_cast<unsigned>(site.x->channels()),
              .pixels = static_cast<unsigned>(site.x->shape.pixels()),
              .batch = static_cast<unsigned>(site.x->batch),
              .entries = static_cast<unsigned>(site.x->size())} {}

  void forward(LaunchRecorder& recorder, const Call& call) override {
    recorder.launch(drop_forward, blocks_for(rule_.entries, 256), 256, 0, site_.x->codes,
                    site_.x->scales, call.training ? call.dropout_keys : nullptr, rule_,
                    site_.y->codes, site_.y->scales);
  }
  void backward(LaunchRecorder& recorder, const Call& call) override {
    if (!site_.x->wants_gradient()) return;
    recorder.launch(drop_backward, blocks_for(rule_.entries, 256), 256, 0, site_.y->gradient,
                    call.training ? call.dropout_keys : nullptr, rule_, site_.x->adds(),
                    site_.x->gradient);
  }

 private:
  Site site_;
  Rule rule_;
};

}  // namespace

std::unique_ptr<Step> make_relu(const Site& site) { return std::make_unique<ReluStep>(site); }
std::unique_ptr<Step> make_add(const Site& site) { return std::make_unique<AddStep>(site); }
std::unique_ptr<Step> make_dropout(const model::Dropout& dropout, const Site& site) {
  return std::make_unique<DropoutStep>(dropout.rate, site);
}

}  // namespace hearsay::engine::cuda::int8
