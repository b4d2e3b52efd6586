#include <cstring>

#include "hearsay/engine/cpu/int8/step.h"
#include "hearsay/engine/cpu/int8/values.h"

/// Operations that move codes and keep their scales, and the mean over pixels.
namespace hearsay::engine::cpu::int8 {

namespace {

class ShortcutStep final : public Step {
 public:
  explicit ShortcutStep(const Site& site)
      : site_(site), before_((site.y->shape.channels - site.x->shape.channels) / 2) {}

  void forward(const Call& call, std::byte*) override {
    const Tensor &x = *site_.x, &y = *site_.y;
    for_each_sample(site_.lanes, call, size_of_sample(y).size(), [&](std::size_t, std::size_t n) {
      std::memset(codes_of(y, n), 0, y.grid().pixels() * channels_of(y));
      const Image<std::int8_t> from = image_of(x, n), to = image_of(y, n);
      for (std::size_t row = 0; row < y.shape.height; ++row) {
        for (std::size_t column = 0; column < y.shape.width; ++column) {
          std::copy_n(from.data + 2 * row * from.pitch + 2 * column * channels_of(x),
                      x.shape.channels,
                      to.data + row * to.pitch + column * channels_of(y) + before_);
        }
      }
      y.scales[n] = x.scales[n];
    });
  }

  void backward(const Call& call, std::byte*) override {
    if (!site_.x->wants_gradient()) return;
    const Tensor &x = *site_.x, &y = *site_.y;
    float* g = collect(site_.lanes, *site_.y);
    float* dx = site_.x->next_gradient();
    for_each_sample(site_.lanes, call, size_of_sample(x).size(), [&](std::size_t, std::size_t n) {
      const Image<float> from = gradient_of(y, g, n), to = gradient_of(x, dx, n);
      std::fill_n(to.data, size_of_sample(x).size(), 0.0f);
      for (std::size_t row = 0; row < y.shape.height; ++row) {
        for (std::size_t column = 0; column < y.shape.width; ++column) {
          std::copy_n(from.data + row * from.pitch + column * channels_of(y) + before_,
                      x.shape.channels, to.data + 2 * row * to.pitch + 2 * column * channels_of(x));
        }
      }
    });
  }

 private:
  Site site_;
  std::size_t before_;  ///< new channels before the old ones
};

/// Of equal codes the first in the window, by rows, is the maximum.
class MaxPoolStep final : public Step {
 public:
  MaxPoolStep(const model::MaxPool& pool, const Site& site) : pool_(pool), site_(site) {}

  Demands demands() const override {
    return {.input_in_backward = true,
            .output_in_backward = true,
            .scratch_bytes = site_.lanes.count() * channels_of(*site_.y) * sizeof(float)};
  }

  void forward(const Call& call, std::byte*) override {
    const Tensor &x = *site_.x, &y = *site_.y;
    const std::size_t channels = channels_of(y);
    for_each_sample(site_.lanes, call, size_of_sample(x).size(), [&](std::size_t, std::size_t n) {
      const Image<std::int8_t> from = image_of(x, n), to = image_of(y, n);
      for_each_output([&](std::size_t row, std::size_t column) {
        std::int8_t* out = to.data + row * to.pitch + column * channels;
        std::fill_n(out, channels, std::int8_t{-128});
        for_each_input(row, column, [&](std::size_t in_row, std::size_t in_column) {
          const std::int8_t* in = from.data + in_row * from.pitch + in_column * channels;
          for (std::size_t c = 0; c < channels; ++c) out[c] = std::max(out[c], in[c]);
        });
      });
      y.scales[n] = x.scales[n];
      clear_border(y, n);
    });
  }

  void backward(const Call& call, std::byte* scratch) override {
    if (!site_.x->wants_gradient()) return;
    const Tensor &x = *site_.x, &y = *site_.y;
    const std::size_t channels = channels_of(y);
    float* dy = collect(site_.lanes, *site_.y);
    float* dx = site_.x->next_gradient();
    for_each_sample(
        site_.lanes, call, size_of_sample(x).size(), [&](std::size_t lane, std::size_t n) {
          // of a window's gradient, not yet given
          float* left = reinterpret_cast<float*>(scratch) + lane * channels;
          const Image<std::int8_t> from = image_of(x, n), to = image_of(y, n);
          const Image<float> g = gradient_of(y, dy, n), d = gradient_of(x, dx, n);
          std::fill_n(d.data, size_of_sample(x).size(), 0.0f);
          for_each_output([&](std::size_t row, std::size_t column) {
            const std::int8_t* most = to.data + row * to.pitch + column * channels;
            std::copy_n(g.data + row * g.pitch + column * channels, channels, left);
            for_each_input(row, column, [&](std::size_t in_row, std::size_t in_column) {
              const std::int8_t* in = from.data + in_row * from.pitch + in_column * channels;
              float* out = d.data + in_row * d.pitch + in_column * channels;
              for (std::size_t c = 0; c < channels; ++c) {
                const float given = in[c] == most[c] ? left[c] : 0.0f;
                out[c] += given;
                left[c] = in[c] == most[c] ? 0.0f : left[c];
              }
            });
          });
        });
  }

 private:
  template <class Body>
  void for_each_output(const Body& body) const {
    for (std::size_t row = 0; row < site_.y->shape.height; ++row) {
      for (std::size_t column = 0; column < site_.y->shape.width; ++column) body(row, column);
    }
  }
  /// The pixels of a window that are in the image.
  template <class Body>
  void for_each_input(std::size_t row, std::size_t column, const Body& body) const {
    const model::Shape& shape = site_.x->shape;
    for (std::size_t k = 0; k < pool_.kernel; ++k) {
      const std::size_t in_row = row * pool_.stride + k - pool_.padding;  // wraps if negative
      if (in_row >= shape.height) continue;
      for (std::size_t l = 0; l < pool_.kernel; ++l) {
        const std::size_t in_column = column * pool_.stride + l - pool_.padding;
        if (in_column < shape.width) body(in_row, in_column);
      }
    }
  }

  model::MaxPool pool_;
  Site site_;
};

/// Q8 of the integer sums, in units of s / pixels.
class GlobalAveragePoolStep final : public Step {
 public:
  explicit GlobalAveragePoolStep(const Site& site) : site_(site) {}

  Demands demands() const override {
    return {.scratch_bytes = channels_of(*site_.x) * sizeof(std::int32_t)};
  }

  void forward(const Call& call, std::byte* scratch) override {
    const Tensor &x = *site_.x, &y = *site_.y;
    const ImageSize size = size_of_sample(x);
    auto* sums = reinterpret_cast<std::int32_t*>(scratch);
    for (std::size_t n = 0; n < call.count; ++n) {
      const Image<std::int8_t> q = image_of(x, n);
      std::fill_n(sums, size.channels, 0);
      for (std::size_t row = 0; row < size.rows; ++row) {
        for (std::size_t column = 0; column < size.columns; ++column) {
          const std::int8_t* pixel = q.data + row * q.pitch + column * size.channels;
          for (std::size_t c = 0; c < size.channels; ++c) sums[c] += pixel[c];
        }
      }
      const Image<const std::int32_t> image{sums, size.channels};
      const ImageSize one{1, 1, size.channels};
      const auto m = static_cast<float>(backend::cpu::magnitude(image, one));
      backend::cpu::to_codes(image, one, factor_of(m, kTop8), image_of(y, n));
      y.scales[n] = scale_of(m, x.scales[n] / static_cast<float>(size.pixels()), kTop8);
    }
  }

  void backward(const Call& call, std::byte*) override {
    if (!site_.x->wants_gradient()) return;
    const ImageSize size = size_of_sample(*site_.x);
    const float* g = collect(site_.lanes, *site_.y);
    float* dx = site_.x->next_gradient();
    const float share = 1 / static_cast<float>(size.pixels());
    for (std::size_t n = 0; n < call.count; ++n) {
      for (std::size_t p = 0; p < size.pixels(); ++p) {
        float* pixel = dx + n * size.size() + p * size.channels;
        for (std::size_t c = 0; c < size.channels; ++c) {
          pixel[c] = g[n * size.channels + c] * share;
        }
      }
    }
  }

 private:
  Site site_;
};

/// From pixels of channels to one vector in the order channel, row, column.
class FlattenStep final : public Step {
 public:
  explicit FlattenStep(const Site& site) : site_(site) {}

  void forward(const Call& call, std::byte*) override {
    const Tensor &x = *site_.x, &y = *site_.y;
    for_each_sample(site_.lanes, call, channels_of(y), [&](std::size_t, std::size_t n) {
      const Image<std::int8_t> from = image_of(x, n);
      std::int8_t* to = codes_of(y, n);
      std::memset(to, 0, channels_of(y));
      for_each_entry([&](std::size_t j, std::size_t row, std::size_t entry) {
        to[j] = from.data[row * from.pitch + entry];
      });
      y.scales[n] = x.scales[n];
    });
  }

  void backward(const Call& call, std::byte*) override {
    if (!site_.x->wants_gradient()) return;
    const Tensor &x = *site_.x, &y = *site_.y;
    const float* dy = collect(site_.lanes, *site_.y);
    float* dx = site_.x->next_gradient();
    const std::size_t size = size_of_sample(x).size();
    for_each_sample(site_.lanes, call, size, [&](std::size_t, std::size_t n) {
      const float* g = dy + n * channels_of(y);
      const Image<float> d = gradient_of(x, dx, n);
      std::fill_n(d.data, size, 0.0f);
      for_each_entry([&](std::size_t j, std::size_t row, std::size_t entry) {
        d.data[row * d.pitch + entry] = g[j];
      });
    });
  }

 private:
  /// body(place in the vector, row, place in the row).
  template <class Body>
  void for_each_entry(const Body& body) const {
    const model::Shape& shape = site_.x->shape;
    const std::size_t channels = channels_of(*site_.x);
    std::size_t j = 0;
    for (std::size_t c = 0; c < shape.channels; ++c) {
      for (std::size_t row = 0; row < shape.height; ++row) {
        for (std::size_t column = 0; column < shape.width; ++column) {
          body(j++, row, column * channels + c);
        }
      }
    }
  }

  Site site_;
};

}  // namespace

std::unique_ptr<Step> make_shortcut(const Site& site) {
  return std::make_unique<ShortcutStep>(site);
}
std::unique_ptr<Step> make_max_pool(const model::MaxPool& pool, const Site& site) {
  return std::make_unique<MaxPoolStep>(pool, site);
}
std::unique_ptr<Step> make_global_average_pool(const Site& site) {
  return std::make_unique<GlobalAveragePoolStep>(site);
}
std::unique_ptr<Step> make_flatten(const Site& site) { return std::make_unique<FlattenStep>(site); }

}  // namespace hearsay::engine::cpu::int8
