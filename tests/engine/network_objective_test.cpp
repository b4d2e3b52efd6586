#include "hearsay/engine/network_objective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/bank.h"

namespace hearsay::engine {
namespace {

constexpr std::size_t kBias = 640;  // where the biases of `logistic` begin

TEST(NetworkObjective, CountsRoundsAndBatches) {
  Bank bank("digits", {.peers = 4, .batch = 32});
  EXPECT_EQ(bank->rounds_per_epoch(), 12u);  // 1,442 / 4 = 360 samples per peer
  EXPECT_EQ(bank->batch(), 32u);
  EXPECT_EQ(bank->layout().dim(), 650u);
}

TEST(NetworkObjective, KnowsNothingAtFirst) {
  Bank bank("digits");  // `logistic` starts at zero
  const Score score = bank->evaluate({bank.x.data(), bank.dim()}, {});
  EXPECT_NEAR(score.loss, std::log(10), 1e-12);
  ASSERT_EQ(bank->metrics().size(), 1u);
  EXPECT_EQ(bank->metrics()[0].key, kAccuracy.key);
  ASSERT_EQ(score.values.size(), 1u);
  EXPECT_NEAR(score.values[0], 100.0 * 35 / 355, 1e-12) << "always says 0";
  EXPECT_TRUE(score.validation_values.empty());
  bank.gradients(0);
  for (double loss : bank.losses) EXPECT_NEAR(loss, std::log(10), 1e-12);
}

TEST(NetworkObjective, PeersSeeOnlyTheirPart) {
  Bank bank("digits", {.peers = 10, .partition = "by-label", .batch = 50});
  // At zero the gradient of a bias is 1/10 minus the class's share of the batch. Peer 5 holds 144
  // samples of the ten classes of about 144, so no 0 and no 9; a whole pass is three rounds.
  double share_of_five = 0;
  for (std::uint32_t round = 0; round < 3; ++round) {
    bank.gradients(round);
    const float* bias = bank.g.data() + 5 * bank.dim() + kBias;
    EXPECT_NEAR(bias[0], 0.1, 1e-7);
    EXPECT_NEAR(bias[9], 0.1, 1e-7);
    share_of_five += (0.1 - static_cast<double>(bias[5])) / 3;
  }
  EXPECT_GT(share_of_five, 0.8);
}

TEST(NetworkObjective, TellsWhoHoldsWhichClasses) {
  Bank bank("digits", {.peers = 4, .partition = "by-label"});
  const auto counts = bank->class_counts();
  ASSERT_EQ(counts.size(), 4u);
  for (const auto& peer : counts) {
    ASSERT_EQ(peer.size(), 10u);
    EXPECT_EQ(std::accumulate(peer.begin(), peer.end(), std::size_t{0}), 360u);
  }
  EXPECT_GT(counts[0][0], 100u);
  EXPECT_EQ(counts[0][9], 0u);
}

TEST(NetworkObjective, LearnsTheDigits) {
  Bank bank("digits", {.peers = 4, .threads = 2, .partition = "skew:0.8"});
  for (std::uint32_t round = 0; round < 600; ++round) {
    bank.gradients(round);
    const auto mean = bank.mean_gradient();
    for (std::size_t k = 0; k < bank.x.size(); ++k) {
      bank.x[k] -= 0.5f * static_cast<float>(mean[k % bank.dim()]);
    }
  }
  const Score score = bank->evaluate({bank.x.data(), bank.dim()}, {});
  EXPECT_GT(score.values.at(0), 95);
  EXPECT_LT(score.loss, 0.25);
}

TEST(NetworkObjective, HoldsOutWhatItIsAskedTo) {
  Bank bank("digits", {.validation = 0.25});
  const Score score = bank->evaluate({bank.x.data(), bank.dim()}, {});
  EXPECT_NEAR(score.validation_loss.value(), std::log(10), 1e-12);
  EXPECT_NEAR(score.validation_values.at(0), 10, 0.5) << "always says 0";
  EXPECT_EQ(bank->rounds_per_epoch(), 7u);  // 3/4 of 1,442 over five peers: 216 samples
}

/// A network with running statistics, which are local to a peer, and augmentation.
const BankOptions kRich{
    .peers = 3, .model = "cnn:norm=batch", .augment = "crop-flip:padding=1", .batch = 8};

TEST(NetworkObjective, DoesNotDependOnThreadsOrOnWhoElseIsInTheBank) {
  Bank one("digits", kRich);
  BankOptions more = kRich;
  more.threads = 3;
  Bank three("digits", more);
  BankOptions part = kRich;
  part.first = 1;
  part.rows = 1;
  Bank middle("digits", part);
  for (std::uint32_t round : {0u, 1u, 50u}) {
    for (Bank* bank : {&one, &three, &middle}) bank->gradients(round);
    EXPECT_EQ(one.g, three.g);
    EXPECT_TRUE(std::equal(middle.g.begin(), middle.g.end(), one.g.data() + one.dim()));
    EXPECT_EQ(one.losses[1], middle.losses[0]);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::ranges::equal(one->buffers(i), three->buffers(i)));
  }
  EXPECT_TRUE(std::ranges::equal(one->buffers(1), middle->buffers(0)));
}

TEST(NetworkObjective, DropsTheSameWhereverAPeerLives) {
  const char* images = "synthetic:shape=3x32x32,classes=3,samples=40";
  Bank both(images, {.peers = 2, .threads = 2, .model = "vgg11", .batch = 1});
  Bank second(images, {.peers = 2, .first = 1, .rows = 1, .model = "vgg11", .batch = 1});
  both.gradients(4);
  second.gradients(4);
  EXPECT_EQ(both.losses[1], second.losses[0]);
  const float* row = both.g.data() + both.dim();
  EXPECT_TRUE(std::equal(second.g.begin(), second.g.end(), row));
  // Dropped entries have no gradient: half of the columns of the first layer after the dropout.
  const auto& segments = both->layout().segments();
  const auto segment = std::ranges::find_if(segments, [](const Segment& s) {
    return s.shape == std::vector<std::size_t>{512, 512};
  });
  ASSERT_NE(segment, segments.end());
  std::size_t dropped = 0;
  for (std::size_t in = 0; in < 512; ++in) {
    bool silent = true;
    for (std::size_t out = 0; out < 512; ++out) {
      silent = silent && row[segment->offset + out * 512 + in] == 0;
    }
    dropped += silent;
  }
  EXPECT_GE(dropped, 256u - 60);
}

TEST(NetworkObjective, RunningStatisticsAreAPeersOwn) {
  Bank bank("digits", kRich);
  ASSERT_GT(bank->buffer_layout().dim(), 0u);
  const std::vector<float> before = bank->buffers(0);
  bank.gradients(0);
  EXPECT_FALSE(std::ranges::equal(bank->buffers(0), before));
  EXPECT_FALSE(std::ranges::equal(bank->buffers(0), bank->buffers(1)));
  bank->set_buffers(1, bank->buffers(0));
  EXPECT_TRUE(std::ranges::equal(bank->buffers(0), bank->buffers(1)));
}

TEST(NetworkObjective, StatisticsFollowAModelThatIsNotTrained) {
  Bank seen("digits", kRich), trained("digits", kRich);
  seen->observe(3, {seen.x.data(), seen.rows(), seen.dim()});
  trained.gradients(3);
  for (std::size_t i = 0; i < seen.rows(); ++i) {
    EXPECT_TRUE(std::ranges::equal(seen->buffers(i), trained->buffers(i)));
  }
}

TEST(NetworkObjective, EstimatesTheStatisticsOfAModelThatNoPeerHolds) {
  BankOptions options = kRich;
  options.augment = "none";
  options.batch = 32;
  Bank bank("digits", options);
  // After enough rounds at one model, running statistics are an average over its batches, too.
  for (std::uint32_t round = 0; round < 200; ++round) bank.gradients(round);
  const auto estimate = bank->estimate_buffers({bank.x.data(), bank.dim()});
  ASSERT_EQ(estimate.size(), bank->buffer_layout().dim());
  double apart = 0, norm = 0;
  for (std::size_t k = 0; k < estimate.size(); ++k) {
    apart += std::pow(static_cast<double>(estimate[k] - bank->buffers(0)[k]), 2);
    norm += std::pow(static_cast<double>(estimate[k]), 2);
  }
  EXPECT_LT(std::sqrt(apart / norm), 0.1);
  EXPECT_EQ(estimate, bank->estimate_buffers({bank.x.data(), bank.dim()}));
  EXPECT_NE(
      bank->evaluate({bank.x.data(), bank.dim()}, estimate).loss,
      bank->evaluate({bank.x.data(), bank.dim()}, std::vector<float>(estimate.size(), 1)).loss);
}

/// Peers 1 and 2 of 5, in a process that holds only their samples (and those on which statistics
/// are estimated), against all in one process.
TEST(NetworkObjective, DoesTheSameWithTheSamplesOfItsOwnPeersAlone) {
  for (bool estimates : {true, false}) {
    BankOptions options{.model = "cnn:norm=batch",
                        .partition = "skew:0.7",
                        .augment = "crop-flip",
                        .validation = 0.2,
                        .batch = 6};
    const std::string data = "synthetic:shape=1x8x8,classes=3,samples=200";
    Bank all(data, options);
    options.first = 1;
    options.rows = 2;
    options.estimates = estimates;
    Bank some(data, options);
    const std::size_t dim = all.dim();
    for (std::uint32_t round = 0; round < 12; ++round) {  // passes over the samples more than once
      all.gradients(round);
      some.gradients(round);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(some.losses[i], all.losses[i + 1]);
        EXPECT_EQ(some->buffers(i), all->buffers(i + 1));
        EXPECT_TRUE(std::ranges::equal(std::span(some.g).subspan(i * dim, dim),
                                       std::span(all.g).subspan((i + 1) * dim, dim)));
      }
    }
    const std::span<const float> model(all.x.data(), dim);
    EXPECT_EQ(some->evaluate(model, some->buffers(0)).validation_loss,
              all->evaluate(model, all->buffers(1)).validation_loss);
    EXPECT_EQ(some->rounds_per_epoch(), all->rounds_per_epoch());
    EXPECT_EQ(some->class_counts(), all->class_counts());
    EXPECT_EQ(some->data_sha256(), all->data_sha256());
    if (!estimates) continue;
    EXPECT_EQ(some->estimate_buffers(model), all->estimate_buffers(model));
  }
}

}  // namespace
}  // namespace hearsay::engine
