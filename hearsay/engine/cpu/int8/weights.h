#pragma once

#include <cstdint>
#include <vector>

namespace hearsay::engine::cpu::int8 {

/// The codes of a weight tensor [out][in][tap], Q8 over the whole tensor, as the factors b of
/// products (backend/cpu/int8/product.h):
///
///   forward   terms (tap, in), columns out
///   turned    terms (tap from the last to the first, out), columns in: for gradients of data
///
/// Channels are padded with zeros.
class Weights {
 public:
  Weights(std::size_t out, std::size_t in, std::size_t taps, std::size_t padded_in,
          bool with_turned);

  void set(const float* weights, bool turned);

  const std::int8_t* forward() const { return forward_.data(); }
  const std::int8_t* turned() const { return turned_.data(); }
  float scale() const { return scale_; }
  std::size_t bytes() const { return forward_.size() + turned_.size(); }

 private:
  std::size_t out_, in_, taps_, padded_out_, padded_in_;
  std::vector<std::int8_t> forward_, turned_;
  float scale_ = 0;
};

}  // namespace hearsay::engine::cpu::int8
