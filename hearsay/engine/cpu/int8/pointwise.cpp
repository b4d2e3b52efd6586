#include "hearsay/engine/cpu/int8/step.h"
#include "hearsay/engine/cpu/int8/values.h"

/// Operations entry by entry: relu, sums and dropout.
namespace hearsay::engine::cpu::int8 {

namespace {

void copy_codes(const Tensor& x, const Tensor& y, std::size_t n) {
  const ImageSize size = size_of_sample(y);
  const Image<std::int8_t> from = image_of(x, n), to = image_of(y, n);
  for (std::size_t row = 0; row < size.rows; ++row) {
    std::copy_n(from.data + row * from.pitch, size.columns * size.channels,
                to.data + row * to.pitch);
  }
  y.scales[n] = x.scales[n];
  clear_border(y, n);
}

class ReluStep final : public Step {
 public:
  explicit ReluStep(const Site& site) : site_(site) {}

  Demands demands() const override { return {.output_in_backward = true}; }

  void forward(const Call& call, std::byte*) override {
    const std::size_t size = size_of_sample(*site_.y).size();
    for_each_sample(site_.lanes, call, size, [&](std::size_t, std::size_t n) {
      copy_codes(*site_.x, *site_.y, n);
      relu(*site_.y, n);
    });
  }

  void backward(const Call& call, std::byte*) override {
    if (!site_.x->wants_gradient()) return;
    float* g = collect(site_.lanes, *site_.y);
    float* dx = site_.x->next_gradient();
    const std::size_t size = size_of_sample(*site_.y).size();
    for_each_sample(site_.lanes, call, size, [&](std::size_t, std::size_t n) {
      std::copy_n(g + n * size, size, dx + n * size);
      relu_backward(*site_.y, n, gradient_of(*site_.y, dx, n));
    });
  }

 private:
  Site site_;
};

/// y = Q8(x + residual), then relu.
class AddStep final : public Step {
 public:
  explicit AddStep(const Site& site) : site_(site) {}

  Demands demands() const override {
    return {.output_in_backward = site_.relu,
            .scratch_bytes = site_.lanes.count() * size_of_sample(*site_.y).size() * sizeof(float)};
  }

  void forward(const Call& call, std::byte* scratch) override {
    const ImageSize size = size_of_sample(*site_.y);
    for_each_sample(site_.lanes, call, size.size(), [&](std::size_t lane, std::size_t n) {
      const Image<float> t{reinterpret_cast<float*>(scratch) + lane * size.size(),
                           size.columns * size.channels};
      bool add = false;
      for (const Tensor* term : {site_.x, site_.residual}) {
        backend::cpu::to_floats(const_image_of(*term, n), size, term->scales[n], add, t);
        add = true;
      }
      store(constant(t), backend::cpu::magnitude(constant(t), size), site_.relu, *site_.y, n);
    });
  }

  void backward(const Call& call, std::byte*) override {
    float* g = collect(site_.lanes, *site_.y);
    const std::size_t size = size_of_sample(*site_.y).size();
    if (site_.relu) {
      for_each_sample(site_.lanes, call, size, [&](std::size_t, std::size_t n) {
        relu_backward(*site_.y, n, gradient_of(*site_.y, g, n));
      });
    }
    for (Tensor* term : {site_.x, site_.residual}) {
      if (!term->wants_gradient()) continue;
      float* target = term->next_gradient();
      if (target == g) continue;
      for_each_sample(site_.lanes, call, size, [&](std::size_t, std::size_t n) {
        std::copy_n(g + n * size, size, target + n * size);
      });
    }
  }

 private:
  Site site_;
};

/// Codes are zero where entries are dropped (model/operation.h); the scale becomes s / (1 - rate).
class DropoutStep final : public Step {
 public:
  DropoutStep(double rate, const Site& site)
      : site_(site),
        rate_(static_cast<float>(rate)),
        keep_scale_(static_cast<float>(1 / (1 - rate))) {}

  void forward(const Call& call, std::byte*) override {
    const Tensor &x = *site_.x, &y = *site_.y;
    for_each_sample(site_.lanes, call, size_of_sample(y).size(), [&](std::size_t, std::size_t n) {
      copy_codes(x, y, n);
      if (!drops(call)) return;
      y.scales[n] = x.scales[n] * keep_scale_;
      const Image<std::int8_t> q = image_of(y, n);
      for_each_dropped(
          call, n, [&](std::size_t row, std::size_t entry) { q.data[row * q.pitch + entry] = 0; });
    });
  }

  void backward(const Call& call, std::byte*) override {
    if (!site_.x->wants_gradient()) return;
    const std::size_t size = size_of_sample(*site_.y).size();
    const float* g = collect(site_.lanes, *site_.y);
    float* dx = site_.x->next_gradient();
    const float scale = drops(call) ? keep_scale_ : 1.0f;
    for_each_sample(site_.lanes, call, size, [&](std::size_t, std::size_t n) {
      for (std::size_t i = n * size; i < (n + 1) * size; ++i) dx[i] = g[i] * scale;
      if (!drops(call)) return;
      const Image<float> d = gradient_of(*site_.x, dx, n);
      for_each_dropped(
          call, n, [&](std::size_t row, std::size_t entry) { d.data[row * d.pitch + entry] = 0; });
    });
  }

 private:
  static bool drops(const Call& call) { return call.training && call.dropout_keys != nullptr; }

  /// body(row, entry of the row) for the entries of sample n that are dropped.
  template <class Body>
  void for_each_dropped(const Call& call, std::size_t n, const Body& body) const {
    const model::Shape& shape = site_.y->shape;
    const std::size_t channels = channels_of(*site_.y);
    const Random random = call.dropout_keys->stream(Purpose::kDropout);
    const std::uint64_t first =
        (std::uint64_t{site_.index} << 40) + (call.first + n) * shape.size();
    for (std::size_t j = 0; j < shape.size(); ++j) {
      if (!(to_unit_float(random.word(first + j)) < rate_)) continue;
      const std::size_t c = j / shape.pixels(), p = j % shape.pixels();
      body(p / shape.width, p % shape.width * channels + c);
    }
  }

  Site site_;
  float rate_, keep_scale_;
};

}  // namespace

std::unique_ptr<Step> make_relu(const Site& site) { return std::make_unique<ReluStep>(site); }
std::unique_ptr<Step> make_add(const Site& site) { return std::make_unique<AddStep>(site); }
std::unique_ptr<Step> make_dropout(const model::Dropout& dropout, const Site& site) {
  return std::make_unique<DropoutStep>(dropout.rate, site);
}

}  // namespace hearsay::engine::cpu::int8
