#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hearsay/data/partition.h"

namespace hearsay::engine {

/// The order in which a peer reads its `samples` in one pass: a permutation of 0 .. samples - 1,
/// drawn from the stream (seed, kShuffle, peer, pass).
std::vector<std::uint32_t> order_of_pass(std::uint64_t seed, std::uint32_t peer, std::uint64_t pass,
                                         std::size_t samples);

/// The running statistics of a model that no peer holds are estimated on this many batches, whose
/// samples and augmentation are drawn from streams of this id, which belongs to no peer.
inline constexpr std::size_t kStatisticsBatches = 64;
inline constexpr std::uint32_t kStatisticsId = ~std::uint32_t{0};

/// The samples of these batches, one batch after the other. Every batch holds samples of all peers,
/// so that the statistics are those of the whole data even under label skew; those of batch k are
/// drawn from the stream (seed, kShuffle, kStatisticsId, k).
std::vector<std::uint32_t> statistics_samples(std::uint64_t seed, const data::Partition& parts,
                                              std::size_t batch);

/// Which samples each peer reads in which round.
///
/// A peer iterates over its samples again and again, each pass in a new random order, and round t
/// reads entries t * batch .. (t + 1) * batch - 1 of that endless list: batches are always full,
/// the last batch of a pass continues with the first samples of the next. The list is a function of
/// (seed, peer): this class only caches it, so resuming needs just the round number.
///
/// Thread safety: calls for different rows may run concurrently.
class Batches {
 public:
  /// For `rows` peers starting at `first`, with `samples` > 0 each and `batch` > 0.
  Batches(std::uint64_t seed, std::size_t first, std::size_t rows, std::size_t samples,
          std::size_t batch);

  std::size_t batch() const { return batch_; }
  std::uint64_t rounds_per_epoch() const { return (samples_ + batch_ - 1) / batch_; }

  /// Fill `indices` (batch() of them) with the sample indices, below `samples`, that row i reads in
  /// `round`.
  void read(std::size_t i, std::uint32_t round, std::span<std::uint32_t> indices);

 private:
  struct Pass {
    std::uint64_t number = ~std::uint64_t{0};
    std::vector<std::uint32_t> order;
  };

  std::uint64_t seed_;
  std::size_t first_;
  std::size_t samples_;
  std::size_t batch_;
  std::vector<Pass> passes_;  // the latest pass of each row
};

}  // namespace hearsay::engine
