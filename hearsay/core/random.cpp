#include "hearsay/core/random.h"

#include <cmath>
#include <numbers>

namespace hearsay {

void Random::seek(std::uint64_t index) {
  cursor_ = index;
  if (index % 4 != 0) cache_ = words(index / 4);
}

std::uint32_t Random::next() {
  if (cursor_ % 4 == 0) cache_ = words(cursor_ / 4);
  return cache_[cursor_++ % 4];
}

double Random::uniform() {
  const std::uint64_t high = next();
  const std::uint64_t low = next();
  return static_cast<double>((high << 21) ^ (low >> 11)) * 0x1p-53;
}

std::uint64_t Random::below(std::uint64_t n) {
  const std::uint64_t limit = ~std::uint64_t{0} - ~std::uint64_t{0} % n;  // a multiple of n
  for (;;) {
    const std::uint64_t high = next();
    const std::uint64_t draw = high << 32 | next();
    if (draw < limit) return draw % n;
  }
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace hearsay
