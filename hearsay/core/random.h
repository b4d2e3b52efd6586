#pragma once

#include <array>
#include <cstdint>

namespace hearsay {

/// What a random stream is used for. Streams of different purposes are independent.
enum class Purpose : std::uint8_t {
  kGraph = 1,
  kPartition,
  kShuffle,
  kAugment,
  kDropout,
  kRounding,  ///< stochastic rounding and random selection in compressors
  kInit,      ///< initial models
  kProblem,   ///< synthetic data
  kNoise,     ///< gradient noise
  kLink,      ///< simulated networks
  kTest,
  kQuantize,  ///< stochastic rounding of gradients in networks of 8 bits
  kLies,      ///< who lies in a simulation, and what
};

/// A counter-based random stream: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011).
///
/// The stream is a pure function of (seed, purpose, peer, round); its words can be read in any
/// order with `word(index)`, or sequentially with `next()` and the draws built on it. So a run is a
/// function of its config and seed, independent of the number of threads or processes, and resuming
/// needs no generator state beyond the round number.
class Random {
 public:
  constexpr Random(std::uint64_t seed, Purpose purpose, std::uint32_t peer = 0,
                   std::uint32_t round = 0)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{0, static_cast<std::uint32_t>(purpose) << 16, peer, round} {}

  /// Words 4*block .. 4*block+3 of the stream. block < 2^48. GPU code calls it too.
  constexpr std::array<std::uint32_t, 4> words(std::uint64_t block) const {
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

  /// What `words` is computed from, for code that computes many blocks at a time: the counter of
  /// block 0.
  constexpr const std::array<std::uint32_t, 2>& key() const { return key_; }
  constexpr const std::array<std::uint32_t, 4>& counter() const { return counter_; }

  /// The index-th word of the stream; does not move the cursor.
  constexpr std::uint32_t word(std::uint64_t index) const { return words(index / 4)[index % 4]; }

  /// Move the cursor to that word: draws continue from there.
  void seek(std::uint64_t index);

  /// The word at the cursor; advances the cursor.
  std::uint32_t next();

  /// Uniform in [0, 1) with 53 random bits (two words).
  double uniform();

  /// Uniform in {0, ..., n-1}, without bias. n > 0.
  std::uint64_t below(std::uint64_t n);

  /// Standard normal (Box-Muller, two uniforms per draw).
  double normal();

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::uint64_t cursor_ = 0;
  std::array<std::uint32_t, 4> cache_{};
};

/// A word as a float in [0, 1) with 24 random bits.
constexpr float to_unit_float(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

}  // namespace hearsay
