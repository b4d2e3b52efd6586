#include "hearsay/train/peer_report.h"

#include <cmath>

#include <gtest/gtest.h>

#include "hearsay/core/error.h"

namespace hearsay::train {
namespace {

/// A metric that files have per peer, and one of which they have only the mean.
constexpr engine::Metric kMetrics[] = {{.key = "error", .better = engine::Metric::Better::kSmaller},
                                       {.key = "share", .by_peer = false}};

/// Differs in every value from the report of any other `i`; even ones have no validation results.
PeerReport report_of(std::size_t i) {
  const double x = static_cast<double>(1 + i);
  PeerReport report;
  report.score.loss = 0.1 * x;
  report.score.values = {10 * x, 1 / x};
  if (i % 2 == 1) report.score.validation_loss = 0.3 * x;
  if (i % 2 == 1) report.score.validation_values = {7 * x, 8 * x};
  report.divergence = 0.7 * x;
  report.push_sum = 1.1 - 0.1 * x;
  report.totals.loss_sum = 0.2 * x;
  report.totals.traffic = {
      .messages = i, .edge_rounds = 10 * i, .bytes = 100 * i, .paper_bytes = 50 * i};
  report.totals.bytes_ahead = {i, 0, 3 * i};
  return report;
}

Bytes bytes_of(const PeerReport& report) {
  Bytes bytes;
  append_report(bytes, report);
  return bytes;
}

TEST(PeerReport, ComesBackFromItsBytes) {
  Bytes bytes;
  for (std::size_t i : {0, 1, 2}) append_report(bytes, report_of(i));
  ByteReader reader(bytes, "reports");
  for (std::size_t i : {0, 1, 2}) {
    const PeerReport back = read_peer_report(reader), expected = report_of(i);
    EXPECT_EQ(back.score.loss, expected.score.loss);
    EXPECT_EQ(back.score.values, expected.score.values);
    EXPECT_EQ(back.score.validation_loss, expected.score.validation_loss);
    EXPECT_EQ(back.score.validation_values, expected.score.validation_values);
    EXPECT_EQ(back.divergence, expected.divergence);
    EXPECT_EQ(back.push_sum, expected.push_sum);
    EXPECT_EQ(back.totals.loss_sum, expected.totals.loss_sum);
    EXPECT_EQ(back.totals.traffic.messages, expected.totals.traffic.messages);
    EXPECT_EQ(back.totals.traffic.edge_rounds, expected.totals.traffic.edge_rounds);
    EXPECT_EQ(back.totals.traffic.bytes, expected.totals.traffic.bytes);
    EXPECT_EQ(back.totals.traffic.paper_bytes, expected.totals.traffic.paper_bytes);
    EXPECT_EQ(back.totals.bytes_ahead, expected.totals.bytes_ahead);
  }
  EXPECT_EQ(reader.left(), 0u);
}

TEST(PeerReport, RefusesForeignBytes) {
  const Bytes whole = bytes_of(report_of(1));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    ByteReader reader(ByteView(whole).first(length), "reports");
    EXPECT_THROW(read_peer_report(reader), CorruptData) << length;
  }
  Bytes foreign = whole;
  foreign[8 + 4 + 2 * 8] = 2;  // after loss and values: whether there is a validation loss
  ByteReader reader(foreign, "reports");
  EXPECT_THROW(read_peer_report(reader), CorruptData);
}

TEST(Assemble, LeavesOutWhoDoesNotCount) {
  const std::vector<PeerReport> all{report_of(0), report_of(1), report_of(2)};
  const std::vector<PeerReport> counted{all[0], all[2]};
  const engine::Score averaged{.loss = 9, .values = {99, 0.5}};
  const RunReport run{.round = 12, .totals = {.dim = 4, .loss_rounds = 2}};
  const Metrics some = assemble_some(all, {true, false, true}, kMetrics, averaged, run);
  const Metrics want = assemble(counted, kMetrics, averaged, run);
  EXPECT_EQ(some.loss, want.loss);
  EXPECT_EQ(some.train_loss, want.train_loss);
  EXPECT_EQ(some.results[0].mean, want.results[0].mean);
  EXPECT_EQ(some.results[0].max, want.results[0].max);
  ASSERT_EQ(some.results[0].by_peer.size(), 3u);
  EXPECT_TRUE(std::isnan(some.results[0].by_peer[1]));
  EXPECT_EQ(some.results[0].by_peer[2], want.results[0].by_peer[1]);
  EXPECT_TRUE(std::isnan(some.push_sum[1]));
  EXPECT_EQ(some.traffic.bytes, 300u);
}

TEST(Assemble, TakesMeansAndExtremesOverPeers) {
  const std::vector<PeerReport> peers{report_of(0), report_of(1), report_of(2), report_of(3)};
  engine::Score averaged;
  averaged.loss = 9;
  averaged.values = {99, 0.5};
  const Metrics m = assemble(peers, kMetrics, averaged,
                             {.round = 12,
                              .epoch = 1.5,
                              .lr = 0.01,
                              .totals = {.dim = 4,
                                         .loss_rounds = 5,
                                         .last_train_loss = 77,
                                         .mass_drift = 1e-7,
                                         .global_bytes = 1234,
                                         .simulated_seconds = 2.5}});
  EXPECT_EQ(m.round, 12u);
  EXPECT_EQ(m.epoch, 1.5);
  EXPECT_EQ(m.lr, 0.01);
  EXPECT_DOUBLE_EQ(m.train_loss, 0.2 * (1 + 2 + 3 + 4) / (4 * 5));
  EXPECT_DOUBLE_EQ(m.loss, 0.25);
  EXPECT_EQ(m.loss_of_average, 9);
  ASSERT_EQ(m.results.size(), 2u);
  const MetricResult& error = *m.find("error");
  EXPECT_EQ(error.by_peer, (std::vector<double>{10, 20, 30, 40}));
  EXPECT_EQ(error.mean, 25);
  EXPECT_EQ(error.min, 10);
  EXPECT_EQ(error.max, 40);
  EXPECT_EQ(error.averaged, 99);
  EXPECT_FALSE(m.validation_loss) << "not all peers have it";
  EXPECT_FALSE(error.validation_mean || error.validation_averaged);
  const MetricResult& share = *m.find("share");
  EXPECT_DOUBLE_EQ(share.mean.value(), (1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 4);
  EXPECT_EQ(share.averaged, 0.5);
  EXPECT_TRUE(share.by_peer.empty());
  EXPECT_FALSE(share.min || share.max);
  EXPECT_DOUBLE_EQ(m.divergence, 0.7 * 2.5);
  EXPECT_EQ(m.divergence_per_dim, m.divergence / 4);
  EXPECT_EQ(m.traffic.messages, 6u);
  EXPECT_EQ(m.traffic.edge_rounds, 60u);
  EXPECT_EQ(m.traffic.bytes, 600u);
  EXPECT_EQ(m.traffic.paper_bytes, 300u);
  EXPECT_EQ(m.traffic.global_bytes, 1234u);
  EXPECT_EQ(m.traffic.bytes_by_peer, (std::vector<std::uint64_t>{0, 100, 200, 300}));
  EXPECT_EQ(m.mass_drift, 1e-7);
  EXPECT_EQ(m.push_sum_min, report_of(3).push_sum);
  EXPECT_EQ(m.push_sum_max, report_of(0).push_sum);
  ASSERT_EQ(m.push_sum.size(), 4u);
  EXPECT_EQ(m.push_sum[2], report_of(2).push_sum);
  EXPECT_EQ(m.simulated_seconds, 2.5);
}

TEST(Assemble, NamesTheEdgesThatCarriedSomething) {
  std::vector<PeerReport> peers(3);
  peers[0].totals.bytes_ahead = {0, 7};
  peers[2].totals.bytes_ahead = {5, 6};
  EXPECT_EQ(assemble(peers, {}, {}, {}).traffic.bytes_by_edge,
            (std::vector<gossip::EdgeBytes>{{0, 2, 7}, {2, 0, 5}, {2, 1, 6}}));
}

TEST(Assemble, KeepsTheLastTrainLossIfNoRoundTookAGradient) {
  const std::vector<PeerReport> peers(3);
  EXPECT_EQ(
      assemble(peers, {}, {}, {.totals = {.loss_rounds = 0, .last_train_loss = 0.75}}).train_loss,
      0.75);
}

TEST(Assemble, LeavesEmptyWhatNobodyHas) {
  const std::vector<PeerReport> peers(3);
  const Metrics m = assemble(peers, {}, {}, {});
  EXPECT_TRUE(m.results.empty());
  EXPECT_FALSE(m.validation_loss || m.simulated_seconds);
  EXPECT_EQ(m.push_sum_min, 1) << "without push-sum";
  EXPECT_EQ(m.push_sum_max, 1);
  EXPECT_TRUE(m.push_sum.empty());
}

TEST(Assemble, TellsOfSinglePeersOnlyWhereTheyAreFew) {
  std::vector<PeerReport> peers(Metrics::kPushSumsTold);
  peers[0].push_sum = 0.5;
  EXPECT_EQ(assemble(peers, {}, {}, {}).push_sum.size(), peers.size());
  peers.emplace_back();
  EXPECT_TRUE(assemble(peers, {}, {}, {}).push_sum.empty());
  peers.resize(gossip::Traffic::kPeersTold);
  EXPECT_EQ(assemble(peers, {}, {}, {}).traffic.bytes_by_peer.size(), peers.size());
  peers.emplace_back();
  EXPECT_TRUE(assemble(peers, {}, {}, {}).traffic.bytes_by_peer.empty());
}

}  // namespace
}  // namespace hearsay::train
