#include "hearsay/data/partition.h"

#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"
#include "hearsay/data/dirichlet.h"

namespace hearsay::data {

namespace {

void shuffle(std::vector<std::uint32_t>& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

Partition deal(double skew, std::span<const std::uint16_t> labels, std::size_t classes,
               std::size_t peers, std::uint64_t seed) {
  const std::size_t share = labels.size() / peers;
  Random random(seed, Purpose::kPartition);
  std::vector<std::uint32_t> kept(labels.size());
  std::iota(kept.begin(), kept.end(), 0u);
  shuffle(kept, random);
  kept.resize(share * peers);

  std::vector<std::size_t> quota(classes, 0);
  for (std::uint32_t i : kept) ++quota[labels[i]];
  for (std::size_t& count : quota) {
    count = static_cast<std::size_t>(std::llround(skew * static_cast<double>(count)));
  }
  std::vector<std::vector<std::uint32_t>> chosen(classes);
  std::vector<std::uint32_t> rest;
  for (std::uint32_t i : kept) {
    std::vector<std::uint32_t>& of_class = chosen[labels[i]];
    (of_class.size() < quota[labels[i]] ? of_class : rest).push_back(i);
  }
  // The first entries of `rest` come from the classes that filled their quota first: mix them.
  shuffle(rest, random);
  std::vector<std::uint32_t> sorted;
  for (const auto& of_class : chosen) sorted.insert(sorted.end(), of_class.begin(), of_class.end());

  Partition parts(peers);
  auto next_of_rest = rest.begin();
  for (std::size_t peer = 0; peer < peers; ++peer) {
    const auto cut = [&](std::size_t p) { return sorted.begin() + sorted.size() * p / peers; };
    std::vector<std::uint32_t>& part = parts[peer];
    part.assign(cut(peer), cut(peer + 1));
    const auto missing = static_cast<std::ptrdiff_t>(share - part.size());
    part.insert(part.end(), next_of_rest, next_of_rest + missing);
    next_of_rest += missing;
  }
  return parts;
}

using Labels = std::span<const std::uint16_t>;

Partition make_iid(const Arguments&, Labels labels, std::size_t classes, std::size_t peers,
                   std::uint64_t seed) {
  return deal(0, labels, classes, peers, seed);
}

Partition make_skew(const Arguments& arguments, Labels labels, std::size_t classes,
                    std::size_t peers, std::uint64_t seed) {
  return deal(arguments.number_in_range("fraction"), labels, classes, peers, seed);
}

Partition make_by_label(const Arguments&, Labels labels, std::size_t classes, std::size_t peers,
                        std::uint64_t seed) {
  return deal(1, labels, classes, peers, seed);
}

Partition make_dirichlet(const Arguments& arguments, Labels labels, std::size_t classes,
                         std::size_t peers, std::uint64_t seed) {
  return deal_dirichlet(arguments.number_in_range("alpha"), labels, classes, peers, seed);
}

constexpr Parameter kSkew[] = {
    {"fraction", "0.8", "[0, 1]", "fraction of every class that is dealt out sorted by label"},
};

constexpr Parameter kDirichlet[] = {
    {"alpha", "1", "[1e-6, 1e6]", "small: few classes per peer; large: all peers alike"},
};

constexpr PartitionEntry kRegistry[] = {
    {"iid", "iid", "every peer draws from the same distribution", {}, make_iid},
    {"skew", "skew:0.8", "a fraction sorted by label, the rest at random", kSkew, make_skew},
    {"by-label",
     "by-label",
     "sorted by label: a peer sees few classes (skew:1)",
     {},
     make_by_label},
    {"dirichlet", "dirichlet:0.1",
     "every class cut among the peers by Dirichlet(alpha) proportions", kDirichlet, make_dirichlet},
};

}  // namespace

Registry<PartitionEntry> partition_registry() { return {"partition", kRegistry}; }

Partition partition(std::string_view spec, std::span<const std::uint16_t> labels,
                    std::size_t classes, std::size_t peers, std::uint64_t seed) {
  const PartitionEntry& entry = partition_registry().find(spec);
  const Arguments arguments(spec, entry.parameters);
  if (peers == 0 || peers > labels.size()) {
    throw InvalidArgument(fmt::format("[{}] {} peers cannot share {} samples; use 1 to {} peers",
                                      entry.name, peers, labels.size(), labels.size()));
  }
  return entry.make(arguments, labels, classes, peers, seed);
}

Partition own_partition(std::size_t peers, std::size_t peer, std::size_t samples) {
  Partition parts(peers);
  parts[peer].resize(samples);
  std::iota(parts[peer].begin(), parts[peer].end(), 0u);
  return parts;
}

std::vector<std::vector<std::size_t>> class_counts(const Partition& parts,
                                                   std::span<const std::uint16_t> labels,
                                                   std::size_t classes) {
  std::vector<std::vector<std::size_t>> counts(parts.size(), std::vector<std::size_t>(classes, 0));
  for (std::size_t peer = 0; peer < parts.size(); ++peer) {
    for (std::uint32_t i : parts[peer]) ++counts[peer][labels[i]];
  }
  return counts;
}

}  // namespace hearsay::data
