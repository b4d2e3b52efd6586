#include "hearsay/engine/cpu/int8/weights.h"

#include <algorithm>
#include <bit>

#include "hearsay/backend/cpu/int8/product.h"
#include "hearsay/engine/cpu/int8/values.h"

namespace hearsay::engine::cpu::int8 {

using backend::cpu::quad_place;

Weights::Weights(std::size_t out, std::size_t in, std::size_t taps, std::size_t padded_in,
                 bool with_turned)
    : out_(out),
      in_(in),
      taps_(taps),
      padded_out_(round_up(out, 16)),
      padded_in_(padded_in),
      forward_(taps * padded_in * padded_out_),
      turned_(with_turned ? taps * padded_out_ * padded_in : 0) {}

void Weights::set(const float* weights, bool turned) {
  std::uint32_t most = 0;
  for (std::size_t k = 0; k < out_ * in_ * taps_; ++k) {
    most = std::max(most, magnitude_bits(weights[k]));
  }
  const float m = std::bit_cast<float>(most), factor = factor_of(m, kTop8);
  scale_ = scale_of(m, 1, kTop8);
  turned = turned && !turned_.empty();
  for (std::size_t o = 0; o < out_; ++o) {
    for (std::size_t i = 0; i < in_; ++i) {
      for (std::size_t t = 0; t < taps_; ++t) {
        const std::int8_t q = code8(*weights++, factor);
        forward_[quad_place(t * padded_in_ + i, o, padded_out_)] = q;
        if (turned) {
          turned_[quad_place((taps_ - 1 - t) * padded_out_ + o, i, padded_in_)] = q;
        }
      }
    }
  }
}

}  // namespace hearsay::engine::cpu::int8
