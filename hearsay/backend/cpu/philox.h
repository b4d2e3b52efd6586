#pragma once

#include <cstdint>
#include <span>

#include "hearsay/core/random.h"

namespace hearsay::backend::cpu {

/// Words 4 first .. of the stream, in order, several blocks at a time: what Random::words gives.
/// `words` has a multiple of 4; first + words.size() / 4 <= 2^48.
void random_words(const Random& random, std::uint64_t first, std::span<std::uint32_t> words);

}  // namespace hearsay::backend::cpu
