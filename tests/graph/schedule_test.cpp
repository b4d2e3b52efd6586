#include "hearsay/graph/schedule.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph/matrices.h"
#include "hearsay/graph/connectivity.h"

namespace hearsay::graph {
namespace {

constexpr std::size_t kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 64};

const std::string kFile = "file:FILE";

/// A spec of the contract suite and the properties its family guarantees.
struct Case {
  std::string spec;
  bool doubly_stochastic = false;
  bool symmetric = false;
};

/// Every row of the registry with its variants; a row without a case here fails a test below.
const Case kCases[] = {
    {"ring", true, true},
    {"ring:directed", true, false},
    {"star", true, true},
    {"star:weights=uniform", false, false},
    {"grid", true, true},
    {"grid:weights=uniform", false, false},
    {"torus", true, true},
    {"complete", true, true},
    {"random:p=0.5", false, false},
    {"random:p=0.5,symmetric=1", true, true},
    {"random:p=0.7,every=2", false, false},
    {"random:p=0.5,symmetric=1,weights=uniform", false, false},
    {"exponential", true, false},
    {"one-peer-exponential", true, false},
    {"sparse-push:a", false, false},
    {"sparse-push:b", false, false},
    {"sparse-push:c", false, false},
    {"cycle:ring+star,every=2", true, true},
    {"cycle:random+random:p=0.3,every=3epochs", false, false},
    {kFile, false, false},
};

std::vector<std::size_t> legal_sizes(const Case& sample) {
  if (sample.spec.starts_with("sparse-push")) return {4};
  std::vector<std::size_t> sizes(std::begin(kSizes), std::end(kSizes));
  if (sample.spec == kFile) sizes.erase(sizes.begin());  // a file has at least one edge
  return sizes;
}

std::string letters_only(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return text;
}

/// kFile stands for a freshly written directed ring with one chord.
std::string spec_for(const Case& sample, std::size_t n) {
  if (sample.spec != kFile) return sample.spec;
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string path = testing::TempDir() + "hearsay_" + letters_only(test->name()) + ".txt";
  std::ofstream file(path);
  for (std::size_t i = 0; i < n; ++i) file << i << ' ' << (i + 1) % n << '\n';
  if (n > 3) file << "0 2\n";
  return "file:" + path;
}

class GraphContract : public testing::TestWithParam<Case> {
 protected:
  /// The graph in every valid size.
  std::vector<std::unique_ptr<Schedule>> make(std::uint64_t seed) const {
    std::vector<std::unique_ptr<Schedule>> schedules;
    for (std::size_t n : legal_sizes(GetParam())) {
      schedules.push_back(make_schedule(spec_for(GetParam(), n), {.peers = n, .seed = seed}));
    }
    return schedules;
  }

  /// All matrices in every valid size.
  std::vector<Weights> matrices(std::uint64_t seed) const {
    std::vector<Weights> all;
    for (const auto& schedule : make(seed)) {
      for (const Weights& weights : schedule->period()) all.push_back(weights);
    }
    return all;
  }
};

TEST_P(GraphContract, HasTheNumberOfPeersAskedFor) {
  std::vector<std::size_t> sizes;
  for (const auto& schedule : make(1)) {
    sizes.push_back(schedule->peers());
    for (const Weights& weights : schedule->period()) EXPECT_EQ(weights.peers(), sizes.back());
  }
  EXPECT_EQ(sizes, legal_sizes(GetParam()));
}

TEST_P(GraphContract, ColumnsSumToOneAndTheDiagonalIsPositive) {
  for (const Weights& weights : matrices(1)) {
    const Matrix w = dense(weights);
    for (std::size_t j = 0; j < w.size(); ++j) {
      double sum = 0;
      for (std::size_t i = 0; i < w.size(); ++i) sum += w[i][j];
      EXPECT_NEAR(sum, 1, 1e-14 * static_cast<double>(w.size()));
      EXPECT_GT(w[j][j], 0);
    }
  }
}

TEST_P(GraphContract, IsJointlyStronglyConnected) {
  for (const auto& schedule : make(1)) {
    EXPECT_FALSE(find_gap(schedule->period()).has_value()) << schedule->peers();
  }
}

TEST_P(GraphContract, IsDoublyStochasticOrSymmetricWhereTheFamilySaysSo) {
  for (const Weights& weights : matrices(1)) {
    const Matrix w = dense(weights);
    for (std::size_t i = 0; i < w.size(); ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < w.size(); ++j) {
        sum += w[i][j];
        EXPECT_TRUE(!GetParam().symmetric || w[i][j] == w[j][i]);
      }
      const double error = std::abs(sum - 1);
      EXPECT_TRUE(!GetParam().doubly_stochastic || error < 1e-14 * static_cast<double>(w.size()));
    }
  }
}

TEST_P(GraphContract, IsAFunctionOfItsSeed) {
  const auto first = make(7), second = make(7);
  for (std::size_t s = 0; s < first.size(); ++s) {
    for (std::uint64_t round : {0, 1, 2, 5, 1, 100}) {
      const auto a = first[s]->at(round, round / 2).edges();
      const auto b = second[s]->at(round, round / 2).edges();
      EXPECT_TRUE(std::ranges::equal(a, b));
    }
  }
}

TEST_P(GraphContract, KeepsItsWeightsWithinAPhase) {
  for (const auto& schedule : make(3)) {
    std::optional<std::uint64_t> phase;
    std::vector<Edge> edges;
    for (std::uint64_t round = 0; round < 24; ++round) {
      const std::uint64_t epoch = round / 2;
      const auto now = schedule->at(round, epoch).edges();
      const bool same_phase = phase == schedule->phase(round, epoch);
      EXPECT_TRUE(!same_phase || std::ranges::equal(now, edges));
      phase = schedule->phase(round, epoch);
      edges.assign(now.begin(), now.end());
      EXPECT_TRUE(!schedule->is_static() || *phase == 0);
      EXPECT_TRUE(schedule->change() != Schedule::Change::kEveryRound || *phase == round);
    }
  }
}

TEST_P(GraphContract, HoldsAllEdgesOfThePeersItKeepsAndNoOthers) {
  const auto whole = make(3), kept = make(3);
  for (std::size_t s = 0; s < whole.size(); ++s) {
    const std::size_t n = whole[s]->peers(), first = n / 3, rows = (n + 2) / 3;
    const auto is_kept = [&](std::size_t peer) { return peer >= first && peer < first + rows; };
    kept[s]->keep(first, rows);
    EXPECT_EQ(kept[s]->peers(), n);
    EXPECT_EQ(kept[s]->change(), whole[s]->change());
    for (std::uint64_t round : {0, 1, 2, 5, 1, 12}) {
      const Weights& all = whole[s]->at(round, round / 2);
      const Weights& some = kept[s]->at(round, round / 2);
      EXPECT_EQ(kept[s]->phase(round, round / 2), whole[s]->phase(round, round / 2));
      for (std::size_t peer = first; peer < first + rows; ++peer) {
        EXPECT_TRUE(std::ranges::equal(some.into(peer), all.into(peer)));
        EXPECT_TRUE(std::ranges::equal(some.out_of(peer), all.out_of(peer)));
        EXPECT_EQ(some.self(peer), all.self(peer));
      }
      const auto touching = std::ranges::count_if(all.edges(), [&](const Edge& edge) {
        return is_kept(edge.sender) || is_kept(edge.receiver);
      });
      EXPECT_EQ(some.edge_count(), static_cast<std::size_t>(touching));
    }
  }
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return letters_only(info.param.spec);
}

void PrintTo(const Case& sample, std::ostream* out) { *out << sample.spec; }

INSTANTIATE_TEST_SUITE_P(Registry, GraphContract, testing::ValuesIn(kCases), case_name);

TEST(GraphRegistry, HasACaseInTheContractSuiteForEveryRow) {
  for (const Entry& entry : registry()) {
    const bool covered = std::ranges::any_of(
        kCases, [&](const Case& sample) { return spec_name(sample.spec) == entry.name; });
    EXPECT_TRUE(covered) << entry.name;
    EXPECT_EQ(spec_name(entry.example), entry.name);
    EXPECT_FALSE(entry.summary.empty());
  }
}

TEST(GraphRegistry, HasExamplesThatWork) {
  for (const Entry& entry : registry()) {
    if (entry.name == "file") continue;  // its example names a user's file
    EXPECT_NO_THROW(make_schedule(entry.example, {})) << entry.example;
  }
}

TEST(MakeSchedule, TakesTheSizeOfTheSpecOrFourPeers) {
  EXPECT_EQ(make_schedule("ring", {})->peers(), 4u);
  EXPECT_EQ(make_schedule("torus:3x5", {})->peers(), 15u);
  EXPECT_EQ(make_schedule("sparse-push:c", {})->peers(), 4u);
  EXPECT_EQ(make_schedule("cycle:ring+grid:1x3", {})->peers(), 3u);
  EXPECT_EQ(make_schedule("cycle:ring+torus:4x4", {})->peers(), 16u);
}

TEST(MakeSchedule, SaysWhichSizeWouldFit) {
  EXPECT_EQ(message_of_spec("torus:3x5", 16),
            "[graph] torus:3x5 has 15 peers but --peers is 16; use torus:4x4, or drop --peers");
  EXPECT_EQ(message_of_spec("grid:2x2", 15),
            "[graph] grid:2x2 has 4 peers but --peers is 15; use grid:3x5, or drop --peers");
  EXPECT_EQ(message_of_spec("sparse-push:b", 5),
            "[graph] sparse-push:b has 4 peers but --peers is 5; drop --peers");
}

TEST(MakeSchedule, NamesWhatThereIsWhenAskedForTheUnknown) {
  EXPECT_EQ(message_of_spec("rign"),
            "[graph] no graph is named 'rign' (did you mean 'ring'?); there are ring, star, grid, "
            "torus, complete, random, exponential, one-peer-exponential, sparse-push, cycle, file");
}

TEST(MakeSchedule, RefusesWrongParameters) {
  EXPECT_EQ(message_of_spec("ring:oneway"),
            "[ring] kind must be one of undirected, directed, got oneway");
  EXPECT_EQ(message_of_spec("grid:4"),
            "[grid] size must be rows x columns, such as 4x4, each in [1, 65536], at most "
            "1048576 peers, got 4");
  EXPECT_EQ(message_of_spec("torus:0x4"),
            "[torus] size must be rows x columns, such as 4x4, each in [1, 65536], at most "
            "1048576 peers, got 0x4");
  EXPECT_EQ(message_of_spec("complete:3"), "[complete] takes no parameters, got '3'");
  EXPECT_EQ(message_of_spec("random:p=0"), "[random] p must be in (0, 1], got 0");
  EXPECT_EQ(message_of_spec("random:weights=metropolis"),
            "[random] weights=metropolis needs an undirected graph; use weights=uniform");
  EXPECT_EQ(message_of_spec("sparse-push:d"), "[sparse-push] graph must be one of a, b, c, got d");
}

TEST(MakeSchedule, RefusesGraphsThatWouldNotFitInMemory) {
  EXPECT_EQ(message_of_spec("ring", 2000000),
            "[graph] --peers must be at most 1048576, got 2000000");
  EXPECT_EQ(message_of_spec("complete", 100000),
            "[complete] would have 1e+10 edges; at most 6.7e+07 are possible, use fewer peers or a "
            "sparser graph");
}

TEST(MakeSchedule, GivesUpOnRandomGraphsThatNeverConnect) {
  EXPECT_EQ(
      message_of_spec("random:p=0.001", 1000),
      "[random] none of 20 draws with p=0.001 and 1000 peers was strongly connected; raise p");
}

TEST(MakeSchedule, DoesNotTryRandomGraphsThatCannotConnect) {
  EXPECT_EQ(message_of_spec("random:p=1e-9", 20000),
            "[random] with p=1e-09 and 20000 peers no draw is strongly connected; raise p beyond "
            "ln(n) / n = 0.0005");
  EXPECT_EQ(message_of_spec("random:p=1e-9,symmetric=1", 20000),
            "[random] with p=1e-09 and 20000 peers no draw is strongly connected; raise p beyond "
            "ln(n) / n = 0.0005");
}

/// Of 20000 peers, edge by edge; each number within 5 standard deviations.
TEST(MakeSchedule, DrawsLargeRandomGraphsSparsely) {
  constexpr double kPeers = 20000, kP = 0.001;
  for (const bool symmetric : {false, true}) {
    const auto spec = fmt::format("random:p={},symmetric={:d}", kP, symmetric);
    const auto schedule = make_schedule(spec, {.peers = 20000, .seed = 3});
    const Weights& weights = schedule->at(0, 0);
    const double copies = symmetric ? 2 : 1, pairs = kPeers * (kPeers - 1) / copies;
    const double edges = static_cast<double>(weights.edge_count()) / copies;
    EXPECT_NEAR(edges, pairs * kP, 5 * std::sqrt(pairs * kP)) << spec;
    double low = 0;  // to lower numbers: half of them
    for (const Edge& edge : weights.edges()) low += edge.receiver < edge.sender ? 1 : 0;
    EXPECT_NEAR(low, edges * copies / 2, symmetric ? 0 : 5 * std::sqrt(edges / 4)) << spec;
    EXPECT_EQ(make_schedule(spec, {.peers = 20000, .seed = 3})->at(0, 0).edge_count(),
              weights.edge_count());
    EXPECT_NE(make_schedule(spec, {.peers = 20000, .seed = 4})->at(0, 0).edge_count(),
              weights.edge_count());
  }
}

}  // namespace
}  // namespace hearsay::graph
