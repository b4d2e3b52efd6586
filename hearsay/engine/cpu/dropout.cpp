#include <algorithm>
#include <array>
#include <cassert>

#include "hearsay/engine/cpu/step.h"

namespace hearsay::engine::cpu {

namespace {

/// The mask is a function of the peer's random stream, so backward recomputes it. Entry j of sample
/// n, of an operation with index o, reads word 2^40 o + n features + j.
class DropoutStep final : public Step {
 public:
  DropoutStep(double rate, const Site& site)
      : site_(site),
        rate_(static_cast<float>(rate)),
        keep_scale_(static_cast<float>(1 / (1 - rate))) {
    assert(site.index < 1024);  // the words of a stream end at 2^50
  }

  void forward(const Call& call, std::byte*) override {
    drop(call, site_.x->data(), site_.y->data());
  }

  void backward(const Call& call, std::byte*) override {
    if (!site_.x->wants_gradient()) return;
    const float* g = collect(site_.lanes, *site_.y);
    drop(call, g, site_.x->next_gradient());
  }

 private:
  void drop(const Call& call, const float* from, float* to) const {
    const auto& tiles = site_.x->tiles;
    const std::size_t each = tiles.sample_size();
    site_.lanes.for_samples(tiles.samples, each, [&](std::size_t first, std::size_t count) {
      std::copy_n(from + first * each, count * each, to + first * each);
      if (!call.training || call.dropout_keys == nullptr) return;
      const Random random = call.dropout_keys->stream(Purpose::kDropout);
      std::uint64_t word = (site_.index << 40) + first * tiles.channels * tiles.pixels;
      std::array<std::uint32_t, 4> words = random.words(word / 4);
      for (std::size_t n = first; n < first + count; ++n) {
        for (std::size_t c = 0; c < tiles.channels; ++c) {
          for (std::size_t p = 0; p < tiles.pixels; ++p, ++word) {
            if (word % 4 == 0) words = random.words(word / 4);
            const std::size_t at = tiles.at(n, c, p);
            to[at] = to_unit_float(words[word % 4]) < rate_ ? 0.0f : to[at] * keep_scale_;
          }
        }
      }
    });
  }

  Site site_;
  float rate_, keep_scale_;
};

}  // namespace

std::unique_ptr<Step> make_dropout(const model::Dropout& dropout, const Site& site) {
  return std::make_unique<DropoutStep>(dropout.rate, site);
}

}  // namespace hearsay::engine::cpu
