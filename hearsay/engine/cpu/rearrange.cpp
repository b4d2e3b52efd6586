#include <algorithm>

#include "hearsay/engine/cpu/step.h"

/// Steps that only move values: sums, shortcuts, layout changes, the mean over pixels.
namespace hearsay::engine::cpu {

namespace {

using backend::cpu::Tiles;

class AddStep final : public Step {
 public:
  explicit AddStep(const Site& site) : site_(site) {}

  Demands demands() const override {
    return {.input_in_backward = false, .output_in_backward = site_.relu};
  }

  void forward(const Call&, std::byte*) override {
    Tensor& y = *site_.y;
    for_samples([&](std::size_t at, std::size_t size) {
      backend::cpu::add(site_.x->data() + at, site_.residual->data() + at, y.data() + at, size);
      if (site_.relu) backend::cpu::relu(y.data() + at, y.data() + at, size);
    });
  }

  void backward(const Call&, std::byte*) override {
    Tensor& y = *site_.y;
    float* g = collect(site_.lanes, y);
    if (site_.relu) {
      for_samples([&](std::size_t at, std::size_t size) {
        backend::cpu::relu_backward(y.data() + at, g + at, size);
      });
    }
    for (Tensor* input : {site_.x, site_.residual}) {
      if (!input->wants_gradient()) continue;
      float* target = input->next_gradient();
      if (target == g) continue;
      for_samples(
          [&](std::size_t at, std::size_t size) { std::copy_n(g + at, size, target + at); });
    }
  }

 private:
  /// body(offset, size) for parts of the batch.
  template <class Body>
  void for_samples(const Body& body) const {
    const std::size_t each = site_.y->tiles.sample_size();
    site_.lanes.for_samples(
        site_.y->tiles.samples, each,
        [&](std::size_t first, std::size_t count) { body(first * each, count * each); });
  }

  Site site_;
};

class ShortcutStep final : public Step {
 public:
  explicit ShortcutStep(const Site& site)
      : site_(site), before_((site.y->shape.channels - site.x->shape.channels) / 2) {}

  void forward(const Call&, std::byte*) override {
    float* y = site_.y->data();
    for_each_kept(site_.y->tiles, y,
                  [&](std::size_t in, std::size_t out) { y[out] = site_.x->data()[in]; });
  }

  void backward(const Call&, std::byte*) override {
    if (!site_.x->wants_gradient()) return;
    const float* g = collect(site_.lanes, *site_.y);
    float* dx = site_.x->next_gradient();
    for_each_kept(site_.x->tiles, dx, [&](std::size_t in, std::size_t out) { dx[in] = g[out]; });
  }

 private:
  /// Clears `target`, then body(in, out) for every entry of the input that is copied to an entry of
  /// the output.
  template <class Body>
  void for_each_kept(const Tiles& written, float* target, const Body& body) const {
    const Tiles& from = site_.x->tiles;
    const Tiles& to = site_.y->tiles;
    const std::size_t height = site_.y->shape.height, width = site_.y->shape.width;
    const std::size_t each = written.sample_size();
    site_.lanes.for_samples(from.samples, each, [&](std::size_t first, std::size_t count) {
      std::fill_n(target + first * each, count * each, 0.0f);
      for (std::size_t n = first; n < first + count; ++n) {
        for (std::size_t c = 0; c < from.channels; ++c) {
          const std::size_t in = from.at(n, c, 0), out = to.at(n, c + before_, 0);
          for (std::size_t row = 0; row < height; ++row) {
            for (std::size_t column = 0; column < width; ++column) {
              const std::size_t pixel = 2 * row * site_.x->shape.width + 2 * column;
              body(in + pixel * from.block, out + (row * width + column) * to.block);
            }
          }
        }
      }
    });
  }

  Site site_;
  std::size_t before_;  ///< zero channels before the old ones
};

class CopyStep final : public Step {
 public:
  explicit CopyStep(const Site& site) : site_(site) {}

  void forward(const Call&, std::byte*) override {
    copy(*site_.x, site_.x->data(), *site_.y, site_.y->data());
  }

  void backward(const Call&, std::byte*) override {
    if (!site_.x->wants_gradient()) return;
    const float* g = collect(site_.lanes, *site_.y);
    copy(*site_.y, g, *site_.x, site_.x->next_gradient());
  }

 private:
  /// From one layout of a batch to another, both read in the order channel, row, column.
  void copy(const Tensor& from, const float* source, const Tensor& to, float* target) const {
    const std::size_t features = from.shape.size(), each = to.tiles.sample_size();
    site_.lanes.for_samples(to.tiles.samples, each, [&](std::size_t first, std::size_t count) {
      if (to.tiles.padded_channels() != to.tiles.channels) {
        std::fill_n(target + first * each, count * each, 0.0f);
      }
      for (std::size_t n = first; n < first + count; ++n) {
        for (std::size_t j = 0; j < features; ++j) {
          const std::size_t p = from.tiles.pixels, q = to.tiles.pixels;
          target[to.tiles.at(n, j / q, j % q)] = source[from.tiles.at(n, j / p, j % p)];
        }
      }
    });
  }

  Site site_;
};

class GlobalAveragePoolStep final : public Step {
 public:
  explicit GlobalAveragePoolStep(const Site& site)
      : site_(site), share_(1.0f / static_cast<float>(site.x->tiles.pixels)) {}

  void forward(const Call&, std::byte*) override {
    const Tiles& from = site_.x->tiles;
    for_each_channel([&](std::size_t in, std::size_t out) {
      double sum = 0;
      for (std::size_t p = 0; p < from.pixels; ++p) {
        sum += static_cast<double>(site_.x->data()[in + p * from.block]);
      }
      site_.y->data()[out] = static_cast<float>(sum / static_cast<double>(from.pixels));
    });
  }

  void backward(const Call&, std::byte*) override {
    if (!site_.x->wants_gradient()) return;
    const Tiles& to = site_.x->tiles;
    const float* g = collect(site_.lanes, *site_.y);
    float* dx = site_.x->next_gradient();
    if (to.padded_channels() != to.channels) std::fill_n(dx, to.size(), 0.0f);
    for_each_channel([&](std::size_t in, std::size_t out) {
      for (std::size_t p = 0; p < to.pixels; ++p) dx[in + p * to.block] = g[out] * share_;
    });
  }

 private:
  template <class Body>
  void for_each_channel(const Body& body) const {
    const Tiles &x = site_.x->tiles, &y = site_.y->tiles;
    site_.lanes.for_samples(x.samples, x.sample_size(), [&](std::size_t first, std::size_t count) {
      for (std::size_t n = first; n < first + count; ++n) {
        for (std::size_t c = 0; c < x.channels; ++c) body(x.at(n, c, 0), y.at(n, c, 0));
      }
    });
  }

  Site site_;
  float share_;
};

}  // namespace

std::unique_ptr<Step> make_add(const Site& site) { return std::make_unique<AddStep>(site); }
std::unique_ptr<Step> make_shortcut(const Site& site) {
  return std::make_unique<ShortcutStep>(site);
}
std::unique_ptr<Step> make_copy(const Site& site) { return std::make_unique<CopyStep>(site); }
std::unique_ptr<Step> make_flatten(const Site& site) { return make_copy(site); }
std::unique_ptr<Step> make_global_average_pool(const Site& site) {
  return std::make_unique<GlobalAveragePoolStep>(site);
}

}  // namespace hearsay::engine::cpu
