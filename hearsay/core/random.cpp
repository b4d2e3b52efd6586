#include "hearsay/core/random.h"

#include <cmath>
#include <numbers>

namespace hearsay {

Random::Random(std::uint64_t seed, Purpose purpose, std::uint32_t peer, std::uint32_t round)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, static_cast<std::uint32_t>(purpose) << 16, peer, round} {}

std::array<std::uint32_t, 4> Random::words(std::uint64_t block) const {
  std::array<std::uint32_t, 4> c = counter_;
  c[0] = static_cast<std::uint32_t>(block);
  c[1] |= static_cast<std::uint32_t>(block >> 32) & 0xffffu;
  std::array<std::uint32_t, 2> k = key_;
  for (int i = 0; i < 10; ++i) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
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
