#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hearsay/core/registry.h"

namespace hearsay::data {

/// The samples of each peer, as indices into the training set.
using Partition = std::vector<std::vector<std::uint32_t>>;

/// Assigns training samples to peers.
///
/// Contract, checked for every row of `partition_registry()`: each sample goes to at most one peer;
/// all peers hold the same number, floor(samples / peers); so at most peers - 1 samples are
/// dropped, and these are drawn at random. The result is a function of the arguments.
using PartitionEntry = Row<Partition(std::span<const std::uint16_t> labels, std::size_t classes,
                                     std::size_t peers, std::uint64_t seed)>;

Registry<PartitionEntry> partition_registry();

/// partition("skew:0.8", labels, 10, 4, seed). With s the skew (iid: 0, by-label: 1), as in the
/// Sparse-Push paper: a random fraction s of every class (rounded to whole samples) is sorted by
/// label and dealt out in order, the first stretch to peer 0; the rest goes to the peers at random.
/// dirichlet is described in dirichlet.h. Every label is below `classes`. Throws InvalidArgument,
/// including when there are fewer samples than peers.
Partition partition(std::string_view spec, std::span<const std::uint16_t> labels,
                    std::size_t classes, std::size_t peers, std::uint64_t seed);

/// The partition of a peer on a device whose data is all its own: nobody knows of the others'. Not
/// a row of the registry, which shares out one dataset.
inline constexpr std::string_view kOwnPartition = "own";
/// All samples for that peer, none for the others.
Partition own_partition(std::size_t peers, std::size_t peer, std::size_t samples);

/// counts[peer][label]: how many samples of each class each peer holds.
std::vector<std::vector<std::size_t>> class_counts(const Partition& parts,
                                                   std::span<const std::uint16_t> labels,
                                                   std::size_t classes);

}  // namespace hearsay::data
