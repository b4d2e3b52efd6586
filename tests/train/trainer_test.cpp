#include "hearsay/train/trainer.h"

#include <gtest/gtest.h>

#include <numeric>

#include "hearsay/compress/code/message.h"
#include "hearsay/core/error.h"
#include "support/every_algorithm.h"

namespace hearsay::train {
namespace {

constexpr std::uint64_t kDim = 10;
constexpr std::uint64_t kFull = compress::kHeaderBytes + 4 * kDim;  // a whole model on the wire

void run_all(Trainer& trainer) {
  while (trainer.round() < trainer.total_rounds()) trainer.run_round(true);
}

class SimulationOf : public support::EveryAlgorithm {};

TEST_P(SimulationOf, GivesTheSameModelsForAnyNumberOfThreads) {
  Trainer one(settings("1")), two(settings("2"));
  run_all(one);
  run_all(two);
  for (std::size_t i = 0; i < one.peers(); ++i) EXPECT_EQ(one.model(i), two.model(i)) << i;
  EXPECT_NE(one.model(0), Trainer(settings()).model(0)) << "it moved at all";
}

TEST_P(SimulationOf, ConservesMassAndPushSumWeights) {
  Trainer trainer(settings());
  run_all(trainer);
  EXPECT_LT(trainer.evaluate().mass_drift, 1e-6);
  const auto u = trainer.algorithm().push_sum();
  if (!u.empty()) {
    EXPECT_NEAR(std::accumulate(u.begin(), u.end(), 0.0), 5, 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, SimulationOf, ::testing::ValuesIn(algorithm::registry()),
                         support::name_of);

TEST(Trainer, GivesTheSameModelsForAnyNumberOfThreadsOnADataset) {
  const auto settings = [](const char* threads) {
    return support::config_of({{"rounds", "20"}, {"threads", threads}});
  };
  Trainer one(settings("1")), two(settings("2"));
  run_all(one);
  run_all(two);
  for (std::size_t i = 0; i < one.peers(); ++i) EXPECT_EQ(one.model(i), two.model(i)) << i;
}

/// A run of `rounds` on five quadratics of ten unknowns, to its end.
Metrics finished(std::vector<std::pair<std::string, std::string>> settings) {
  settings.insert(settings.end(), {{"data", "least-squares"}, {"peers", "5"}, {"threads", "1"}});
  Trainer trainer(support::config_of(settings));
  run_all(trainer);
  return trainer.evaluate();
}

TEST(Traffic, OfIdentityIsAHeaderAndFourBytesAFloat) {
  const gossip::Traffic t =
      finished({{"algorithm", "dsgd"}, {"graph", "ring"}, {"rounds", "7"}}).traffic;
  EXPECT_EQ(t.edge_rounds, 10u * 7);
  EXPECT_EQ(t.messages, 10u * 7);
  EXPECT_EQ(t.bytes, 10 * 7 * kFull);
  EXPECT_EQ(t.paper_bytes, 10 * 7 * 4 * (kDim + 1));
  EXPECT_EQ(t.global_bytes, 0u);
}

TEST(Traffic, CountsBothVectorsOfAMethodThatSendsTwo) {
  const gossip::Traffic t = finished({{"algorithm", "push-diging"}, {"rounds", "7"}}).traffic;
  EXPECT_EQ(t.edge_rounds, 5u * 7);  // a directed ring
  EXPECT_EQ(t.messages, 2u * 5 * 7);
  EXPECT_EQ(t.bytes, 2 * 5 * 7 * kFull);
}

TEST(Traffic, OfAGlobalAverageIsARingAllReduce) {
  const gossip::Traffic t = finished({{"algorithm", "psgd"}, {"rounds", "7"}}).traffic;
  EXPECT_EQ(t.global_bytes, 7 * 5 * (2 * 4 * 4 * kDim / 5));  // 2(n-1)/n * 4d per peer
  EXPECT_EQ(t.bytes, 0u);
  EXPECT_EQ(t.edge_rounds, 0u);
  // Every third round is global, the others do not communicate.
  EXPECT_EQ(finished({{"algorithm", "local-sgd:period=3"}, {"rounds", "7"}}).traffic.global_bytes,
            2 * 5 * (2 * 4 * 4 * kDim / 5));
}

TEST(Traffic, OfScspHoldsTheFullRoundsAtTheEnd) {
  const std::vector<std::pair<std::string, std::string>> common{
      {"compressor", "topk:keep=0.2,value=f32"}, {"graph", "ring:directed"}, {"rounds", "7"}};
  auto with = common, without = common;
  with.emplace_back("algorithm", "scsp:eta=0.1,final=3");
  without.emplace_back("algorithm", "sparse-push:eta=0.1");
  const gossip::Traffic full = finished(with).traffic, compressed = finished(without).traffic;
  EXPECT_LT(compressed.bytes, 5 * 7 * kFull);
  EXPECT_EQ(full.bytes, compressed.bytes + 5 * 3 * kFull);
  EXPECT_EQ(full.edge_rounds, 5u * 10);
  EXPECT_EQ(compressed.paper_bytes, 5u * 7 * (6 * 2 + 3));  // k = 2 of 10 entries
  EXPECT_EQ(full.paper_bytes, 5u * 7 * (6 * 2 + 3) + 5u * 3 * 4 * (kDim + 1));
}

TEST(Trainer, LosingMessagesLosesNoMass) {
  Trainer trainer(support::config_of({{"algorithm", "sgp"},
                                      {"data", "least-squares"},
                                      {"peers", "5"},
                                      {"rounds", "200"},
                                      {"link", "loss=0.2"},
                                      {"threads", "1"}}));
  run_all(trainer);
  const auto u = trainer.algorithm().push_sum();
  EXPECT_NEAR(std::accumulate(u.begin(), u.end(), 0.0), 5, 1e-12);
  const Metrics m = trainer.evaluate();
  EXPECT_LT(m.mass_drift, 1e-6);
  EXPECT_GT(m.mass_drift, 0) << "nothing was measured";
  // On a directed ring only lost messages can move a push-sum weight away from 1.
  EXPECT_LT(m.push_sum_min, 0.9);
  EXPECT_GT(m.push_sum_max, 1.1);
  EXPECT_EQ(m.traffic.messages, 5u * 200) << "a lost message was sent all the same";
}

TEST(Trainer, WithoutPushSumItsWeightsAreReportedAsOne) {
  const Metrics m = finished({{"algorithm", "dsgd"}, {"rounds", "3"}});
  EXPECT_EQ(m.push_sum_min, 1);
  EXPECT_EQ(m.push_sum_max, 1);
}

TEST(Trainer, ReportsSimulatedSecondsOnlyWithALink) {
  EXPECT_FALSE(finished({{"algorithm", "dsgd"}, {"rounds", "3"}}).simulated_seconds);
  // Three rounds of 1 s gradient, 2 messages of 64 bytes at 64 bytes/s, 0.5 s latency.
  const Metrics m = finished(
      {{"algorithm", "dsgd"}, {"rounds", "3"}, {"link", "latency=0.5,bandwidth=64,compute=1"}});
  EXPECT_DOUBLE_EQ(m.simulated_seconds.value(), 3 * (1 + 2 + 0.5));
}

TEST(Trainer, NamesPeerAndRoundOfALossThatIsNotFinite) {
  Trainer trainer(support::config_of({{"algorithm", "dsgd"},
                                      {"data", "least-squares"},
                                      {"lr", "1e6"},
                                      {"rounds", "100"},
                                      {"threads", "1"}}));
  try {
    run_all(trainer);
    FAIL() << "it converged";
  } catch (const RunFailed& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(" of peer 0 is "), std::string::npos) << text;
    EXPECT_NE(text.find("round " + std::to_string(trainer.round())), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("; lower --lr or the averaging rate eta")) << text;
  }
}

TEST(Trainer, RefusesMoreRoundsThanItCanNumber) {
  EXPECT_THROW(Trainer(support::config_of({{"epochs", "4294967295"}})), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::train
