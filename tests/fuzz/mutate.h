#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "hearsay/core/bytes.h"
#include "hearsay/core/random.h"

namespace hearsay {

/// Overwrite, insert, remove or truncate a few bytes.
inline void mutate(Bytes& bytes, Random& random) {
  for (std::uint64_t edits = 1 + random.below(4); edits > 0; --edits) {
    const auto at = static_cast<std::ptrdiff_t>(random.below(bytes.size() + 1));
    const auto byte = static_cast<std::uint8_t>(random.below(256));
    switch (random.below(7)) {
      case 0:
        bytes.insert(bytes.begin() + at, byte);
        break;
      case 1:
        bytes.resize(static_cast<std::size_t>(at));
        break;
      case 2:
        if (at < std::ssize(bytes)) bytes.erase(bytes.begin() + at);
        break;
      case 3:
        if (at + 4 <= std::ssize(bytes)) std::fill_n(bytes.begin() + at, 4, byte | 0xf0);
        break;
      case 4:
        if (at < std::ssize(bytes)) bytes[at] ^= static_cast<std::uint8_t>(1u << byte % 8);
        break;
      default:
        if (at < std::ssize(bytes)) bytes[static_cast<std::size_t>(at)] = byte;
    }
  }
}

}  // namespace hearsay
