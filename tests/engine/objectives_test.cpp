#include "hearsay/engine/objectives.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>

#include "engine/bank.h"
#include "support/message_of.h"

namespace hearsay::engine {
namespace {

std::vector<std::string> closed_forms() {
  std::vector<std::string> specs;
  for (const ObjectiveEntry& entry : objective_registry()) specs.emplace_back(entry.name);
  return specs;
}

/// Closed forms, by default without noise.
std::vector<std::string> noiseless() {
  std::vector<std::string> specs = closed_forms();
  specs.emplace_back("logistic:batch=7");
  return specs;
}

/// The values of `--data` that need no files.
std::vector<std::string> all_specs() {
  std::vector<std::string> specs = noiseless();
  specs.emplace_back("digits");
  specs.emplace_back("synthetic:shape=2x4x4,classes=3,samples=60");
  for (const ObjectiveEntry& entry : objective_registry()) specs.emplace_back(entry.example);
  return specs;
}

/// Every value of `--data` fulfils the contract in objective.h.
class ObjectiveContract : public ::testing::TestWithParam<std::string> {};

TEST_P(ObjectiveContract, ProblemIsTheSameHoweverPeersAreSpreadOverBanks) {
  Bank all(GetParam());
  const std::vector<float> start = all.x;
  all.scatter();
  all.gradients(4);
  struct Split {
    std::size_t first, rows;
  };
  for (const Split& split : {Split{0, 2}, Split{2, 3}, Split{4, 1}}) {
    const std::size_t first = split.first;
    const std::size_t rows = split.rows;
    Bank part(GetParam(), {.first = first, .rows = rows});
    const auto rows_of = [&](const std::vector<float>& values) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first * part.dim());
      return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(rows * part.dim()));
    };
    EXPECT_EQ(part.x, rows_of(start));
    std::vector<float> starts(all.rows() * part.dim());  // a bank knows those of other peers, too
    for (std::size_t i = 0; i < all.rows(); ++i) {
      part->initial_model(static_cast<std::uint32_t>(i),
                          std::span(starts).subspan(i * part.dim(), part.dim()));
    }
    EXPECT_EQ(starts, start);
    part.x = rows_of(all.x);
    part.gradients(4);
    EXPECT_EQ(part.g, rows_of(all.g));
    for (std::size_t i = 0; i < rows; ++i) EXPECT_EQ(part.losses[i], all.losses[first + i]);
    EXPECT_EQ(part->evaluate({part.x.data(), part.dim()}, {}).loss,
              all->evaluate({part.x.data(), part.dim()}, {}).loss);
  }
}

TEST_P(ObjectiveContract, ResultsDoNotDependOnTheNumberOfThreads) {
  Bank one(GetParam());
  Bank three(GetParam(), {.threads = 3});
  EXPECT_EQ(one.x, three.x);
  one.scatter();
  three.x = one.x;
  for (std::uint32_t round : {0u, 1u, 9u}) {
    one.gradients(round);
    three.gradients(round);
    EXPECT_EQ(one.g, three.g);
    EXPECT_EQ(one.losses, three.losses);
  }
  EXPECT_EQ(std::vector<double>(one->optimum().begin(), one->optimum().end()),
            std::vector<double>(three->optimum().begin(), three->optimum().end()));
}

TEST_P(ObjectiveContract, GradientsDependOnTheRoundNumberAndNotOnThePast) {
  Bank busy(GetParam());
  Bank fresh(GetParam());
  busy.scatter();
  fresh.scatter();
  for (std::uint32_t round = 0; round < 30; ++round) busy.gradients(round);
  for (std::uint32_t round : {17u, 3u}) {
    busy.gradients(round);
    fresh.gradients(round);
    EXPECT_EQ(busy.g, fresh.g);
    EXPECT_EQ(busy.losses, fresh.losses);
  }
}

TEST_P(ObjectiveContract, SeedsGiveDifferentProblems) {
  Bank one(GetParam(), {.seed = 1});
  Bank two(GetParam(), {.seed = 2});
  one.gradients(0);
  two.gradients(0);
  EXPECT_TRUE(one.g != two.g || one.x != two.x);
}

std::string test_name(const ::testing::TestParamInfo<std::string>& row) {
  std::string name;
  for (char c : row.param) name += std::isalnum(c) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Data, ObjectiveContract, ::testing::ValuesIn(all_specs()), test_name);

/// If losses and gradients have the same (or no) noise, the gradient is the derivative of the loss.
class NoiselessObjective : public ::testing::TestWithParam<std::string> {};

TEST_P(NoiselessObjective, GradientIsTheSlopeOfTheLoss) {
  Bank bank(GetParam());
  bank.scatter();
  const std::vector<float> x = bank.x;
  bank.gradients(3);
  const std::vector<float> g = bank.g;
  const float h = 0x1p-10f;
  for (std::size_t k = 0; k < bank.dim(); k += bank.dim() < 100 ? 1 : 37) {
    const auto losses_at = [&](float shift) {
      bank.x = x;
      for (std::size_t i = 0; i < bank.rows(); ++i) bank.x[i * bank.dim() + k] += shift;
      bank.gradients(3);
      return bank.losses;
    };
    const auto above = losses_at(h);
    const auto below = losses_at(-h);
    for (std::size_t i = 0; i < bank.rows(); ++i) {
      const double slope = (above[i] - below[i]) / (2 * static_cast<double>(h));
      EXPECT_NEAR(g[i * bank.dim() + k], slope, 2e-6 * (1 + std::abs(slope))) << i << ", " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Data, NoiselessObjective, ::testing::ValuesIn(noiseless()), test_name);

/// The properties of x* stated in closed_form.h.
class ClosedForm : public ::testing::TestWithParam<std::string> {};

TEST_P(ClosedForm, MeanGradientAtTheOptimumIsZero) {
  for (std::size_t peers : {1u, 2u, 5u, 16u}) {
    Bank bank(GetParam(), {.peers = peers});
    ASSERT_EQ(bank->optimum().size(), bank.dim());
    bank.place(bank->optimum());
    bank.gradients(0);
    EXPECT_LT(std::sqrt(squared_norm(bank.mean_gradient())), 1e-6) << peers << " peers";

    const std::span<const float> best(bank.x.data(), bank.dim());
    const Score score = bank->evaluate(best, {});
    EXPECT_LT(score.values.at(0), 1e-7);
    for (std::size_t k = 0; k < bank.dim(); ++k) {
      for (float shift : {-0.01f, 0.01f}) {
        std::vector<float> near(best.begin(), best.end());
        near[k] += shift;
        EXPECT_GE(bank->evaluate(near, {}).loss, score.loss);
      }
    }
  }
}

TEST_P(ClosedForm, LossOfTheWholeIsTheMeanOfThePeers) {
  Bank bank(GetParam());
  bank.scatter();
  bank.place(std::vector<float>(bank.x.begin(), bank.x.begin() + bank.dim()));
  bank.gradients(0);
  double mean = 0;
  for (double loss : bank.losses) mean += loss / static_cast<double>(bank.rows());
  EXPECT_NEAR(bank->evaluate({bank.x.data(), bank.dim()}, {}).loss, mean, 1e-10 * (1 + mean));
}

INSTANTIATE_TEST_SUITE_P(Data, ClosedForm, ::testing::ValuesIn(closed_forms()), test_name);

TEST(Consensus, StartsAtRandomVectorsWhoseMeanIsTheOptimum) {
  Bank bank("consensus:dim=1000,spread=3", {.peers = 8});
  EXPECT_NEAR(squared_norm(bank.x) / 8000, 9, 0.5);
  const std::vector<float> start = bank.x;
  for (std::size_t k = 0; k < bank.dim(); ++k) {
    double mean = 0;
    for (std::size_t i = 0; i < 8; ++i) mean += static_cast<double>(start[i * 1000 + k]) / 8;
    EXPECT_NEAR(bank->optimum()[k], mean, 1e-14);
  }
  bank.gradients(0);
  EXPECT_EQ(squared_norm(bank.g), 0);
  EXPECT_EQ(bank.losses, std::vector<double>(8, 0.0));
}

TEST(MakeObjective, NamesDatasetsAndClosedFormsAlike) {
  EXPECT_EQ(message_of("least-square"),
            "[data] no data is named 'least-square' (did you mean 'least-squares'?); there are "
            "consensus, least-squares, logistic, digits, mnist, cifar10, cifar100, folder, "
            "synthetic, npz, csv");
  EXPECT_EQ(message_of("consensus:dim=0"),
            "[consensus] dim must be a whole number in [1, 1000000000], got 0");
  EXPECT_EQ(message_of("digits:3"), "[digits] takes no parameters, got '3'");
  EXPECT_EQ(message_of("digits", {.partition = "skew:2"}),
            "[skew] fraction must be in [0, 1], got 2");
  EXPECT_EQ(message_of("digits", {.batch = 0}), "[batch] must be at least 1, got 0");
}

/// Terabytes and more, before any are taken.
TEST(Objectives, AreRefusedIfTheyAreLargerThanTheMachine) {
  ThreadPool pool(1);
  const auto kernels = backend::make_cpu_kernels(pool);
  const struct {
    const char *data, *model;
    std::size_t peers;
    const char* begin;
  } samples[] = {
      {"consensus:dim=1000000000", "none", 1 << 20, "[consensus] needs 8.39 PB of memory, and "},
      {"least-squares:dim=2000,samples=1000000", "none", 1 << 20,
       "[least-squares] needs 33.6 TB of memory, and "},
      {"logistic:dim=2000,samples=1000", "none", 1 << 20,
       "[logistic] needs 41.9 TB of memory, and "},
      {"digits", "mlp:hidden=65536+65536", 1000,
       "[mlp:hidden=65536+65536] needs 34.4 TB of memory, and "},
  };
  for (const auto& sample : samples) {
    const std::string message = support::message_of([&] {
      make_objective(sample.data, {.peers = sample.peers,
                                   .first = 0,
                                   .rows = sample.peers,
                                   .seed = 1,
                                   .pool = pool,
                                   .kernels = *kernels,
                                   .model = sample.model});
    });
    EXPECT_TRUE(message.starts_with(sample.begin)) << message;
  }
}

}  // namespace
}  // namespace hearsay::engine
