#include "hearsay/data/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "support/message_of.h"

namespace hearsay::data {

void PrintTo(const PartitionEntry& entry, std::ostream* out) { *out << entry.name; }

namespace {

constexpr std::size_t kClasses = 10;

/// 2,503 labels, all classes mixed and of different sizes.
std::vector<std::uint16_t> some_labels() {
  std::vector<std::uint16_t> labels;
  for (std::size_t i = 0; i < 2503; ++i) {
    labels.push_back(static_cast<std::uint16_t>(i * i % 97 % kClasses));
  }
  return labels;
}

using support::message_of;

/// Every partition of the registry fulfils the contract in partition.h.
class PartitionContract : public ::testing::TestWithParam<PartitionEntry> {};

TEST_P(PartitionContract, GivesEveryPeerTheSameNumberAndNoSampleTwice) {
  const auto labels = some_labels();
  for (std::size_t peers : {1u, 2u, 3u, 4u, 7u, 16u, 101u, 2503u}) {
    const Partition parts = partition(GetParam().example, labels, kClasses, peers, 1);
    ASSERT_EQ(parts.size(), peers);
    std::set<std::uint32_t> seen;
    for (const auto& part : parts) {
      EXPECT_EQ(part.size(), labels.size() / peers);
      seen.insert(part.begin(), part.end());
    }
    EXPECT_EQ(seen.size(), labels.size() / peers * peers) << "with " << peers << " peers";
    EXPECT_LT(*seen.rbegin(), labels.size());
  }
}

TEST_P(PartitionContract, IsAFunctionOfTheSeed) {
  const auto labels = some_labels();
  const Partition parts = partition(GetParam().example, labels, kClasses, 4, 1);
  EXPECT_EQ(parts, partition(GetParam().example, labels, kClasses, 4, 1));
  EXPECT_NE(parts, partition(GetParam().example, labels, kClasses, 4, 2));
}

TEST_P(PartitionContract, RefusesMorePeersThanSamples) {
  const std::vector<std::uint16_t> labels(3, 0);
  EXPECT_NE(message_of([&] {
              partition(GetParam().example, labels, 1, 4, 1);
            }).find("4 peers cannot share 3 samples; use 1 to 3 peers"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Registry, PartitionContract, ::testing::ValuesIn(partition_registry()),
                         [](const auto& row) {
                           std::string name(row.param.name);
                           std::erase(name, '-');
                           return name;
                         });

/// The fraction of samples in the peers' lists that are where a full sort by label would put them.
double sorted_fraction(const Partition& parts, std::span<const std::uint16_t> labels) {
  const auto mine = class_counts(parts, labels, kClasses);
  const auto sorted =
      class_counts(partition("by-label", labels, kClasses, parts.size(), 1), labels, kClasses);
  double common = 0;
  double total = 0;
  for (std::size_t peer = 0; peer < parts.size(); ++peer) {
    for (std::size_t label = 0; label < kClasses; ++label) {
      common += static_cast<double>(std::min(mine[peer][label], sorted[peer][label]));
      total += static_cast<double>(mine[peer][label]);
    }
  }
  return common / total;
}

TEST(Skew, SortsTheStatedFractionOfEveryClass) {
  // 10 classes of 1,000 on 10 peers: peer c holds s * 1,000 of class c and a tenth of the rest.
  std::vector<std::uint16_t> labels;
  for (std::size_t i = 0; i < 10000; ++i) labels.push_back(static_cast<std::uint16_t>(i % 10));
  for (double s : {0.0, 0.25, 0.8, 1.0}) {
    const Partition parts = partition(fmt::format("skew:{}", s), labels, kClasses, 10, 3);
    const auto counts = class_counts(parts, labels, kClasses);
    for (std::size_t peer = 0; peer < 10; ++peer) {
      for (std::size_t label = 0; label < 10; ++label) {
        const double rest = (1 - s) * 100;
        const double expected = rest + (peer == label ? s * 1000 : 0);
        EXPECT_NEAR(static_cast<double>(counts[peer][label]), expected, 6 * std::sqrt(rest));
      }
    }
  }
}

TEST(Skew, GrowsWithTheFraction) {
  const auto labels = some_labels();
  double before = 0;
  for (const char* spec : {"iid", "skew:0.3", "skew:0.6", "skew:0.9", "by-label"}) {
    const double now = sorted_fraction(partition(spec, labels, kClasses, 7, 1), labels);
    EXPECT_GT(now, before + 0.05) << spec;
    before = now;
  }
}

TEST(Skew, AtItsEndsIsIidAndByLabel) {
  const auto labels = some_labels();
  EXPECT_EQ(partition("skew:0", labels, kClasses, 5, 9), partition("iid", labels, kClasses, 5, 9));
  EXPECT_EQ(partition("skew:1", labels, kClasses, 5, 9),
            partition("by-label", labels, kClasses, 5, 9));
}

TEST(ByLabel, DealsLabelsOutInOrder) {
  const auto labels = some_labels();
  std::uint16_t before = 0;
  for (const auto& part : partition("by-label", labels, kClasses, 6, 1)) {
    for (std::uint32_t i : part) {
      EXPECT_GE(labels[i], before);
      before = labels[i];
    }
  }
}

TEST(Partition, SaysWhatIsWrong) {
  const auto labels = some_labels();
  EXPECT_EQ(message_of([&] { partition("skew:1.5", labels, kClasses, 4, 1); }),
            "[skew] fraction must be in [0, 1], got 1.5");
  EXPECT_EQ(message_of([&] { partition("idd", labels, kClasses, 4, 1); }),
            "[partition] no partition is named 'idd' (did you mean 'iid'?); there are iid, skew, "
            "by-label, dirichlet");
}

/// How different the peers' class histograms are: 0 if all are equal, near 1 if no two peers share
/// a class.
double unlikeness(const Partition& parts, std::span<const std::uint16_t> labels) {
  const auto counts = class_counts(parts, labels, kClasses);
  double sum = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j, ++pairs) {
      double apart = 0;
      for (std::size_t label = 0; label < kClasses; ++label) {
        apart +=
            std::abs(static_cast<double>(counts[i][label]) - static_cast<double>(counts[j][label]));
      }
      sum += apart / (2 * static_cast<double>(parts[i].size()));
    }
  }
  return sum / pairs;
}

TEST(Dirichlet, GrowsUnlikeAsAlphaFalls) {
  std::vector<std::uint16_t> labels;
  for (std::size_t i = 0; i < 20000; ++i) labels.push_back(static_cast<std::uint16_t>(i % 10));
  double before = 0;
  for (const char* spec : {"dirichlet:100", "dirichlet:10", "dirichlet:1", "dirichlet:0.1"}) {
    const double now = unlikeness(partition(spec, labels, kClasses, 8, 1), labels);
    EXPECT_GT(now, before + 0.02) << spec;
    before = now;
  }
  EXPECT_GT(before, 0.7);
  EXPECT_LT(unlikeness(partition("dirichlet:1e6", labels, kClasses, 8, 1), labels), 0.05);
}

/// Two peers, two equal classes: class 0 is cut at p, class 1 at q, both ~ Beta(alpha, alpha),
/// redrawn unless |p + q - 1| <= 1/2; after the cut into equal shares peer 0 holds max(p, 1 - q) of
/// class 0. The expected moments are sums over quantiles of p and 1 - q.
TEST(Dirichlet, CutsHaveTheMomentsOfTheDistribution) {
  std::vector<std::uint16_t> labels(4000);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint16_t>(i % 2);
  struct Case {
    const char* spec;
    double (*quantile)(double);
  };
  const Case cases[] = {
      {"dirichlet:1", [](double u) { return u; }},
      {"dirichlet:0.5", [](double u) { return std::pow(std::sin(u * std::acos(-1.0) / 2), 2); }},
  };
  for (const Case& one : cases) {
    double weight = 0;
    double first = 0;
    double second = 0;
    for (int i = 0; i < 500; ++i) {
      for (int j = 0; j < 500; ++j) {
        const double p = one.quantile((i + 0.5) / 500);
        const double r = one.quantile((j + 0.5) / 500);
        if (std::abs(p - r) > 0.5) continue;
        weight += 1;
        first += std::max(p, r);
        second += std::max(p, r) * std::max(p, r);
      }
    }
    double mean = 0;
    double square = 0;
    constexpr int kSeeds = 2000;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto counts = class_counts(partition(one.spec, labels, 2, 2, seed), labels, 2);
      const double p = static_cast<double>(counts[0][0]) / 2000;
      mean += p / kSeeds;
      square += p * p / kSeeds;
    }
    const double tolerance = 5 * 0.35 / std::sqrt(double{kSeeds});  // no deviation is above 0.35
    EXPECT_NEAR(mean, first / weight, tolerance) << one.spec;
    EXPECT_NEAR(square, second / weight, tolerance) << one.spec;
  }
}

TEST(Dirichlet, EndsWhereNoDrawGivesEveryPeerHalfItsShare) {
  std::vector<std::uint16_t> labels(1000);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint16_t>(i % 2);
  for (const char* spec : {"dirichlet:1e-6", "dirichlet:0.01"}) {
    const Partition parts = partition(spec, labels, 2, 10, 1);
    for (const auto& part : parts) EXPECT_EQ(part.size(), 100u);
  }
}

}  // namespace
}  // namespace hearsay::data
