#include "hearsay/gossip/ledger.h"

#include <gtest/gtest.h>

#include <tuple>

#include <algorithm>
#include <limits>

#include "hearsay/compress/code/message.h"
#include "hearsay/core/error.h"
#include "hearsay/graph/schedule.h"

namespace hearsay::gossip {
namespace {

constexpr std::size_t kPeers = 5;
constexpr std::size_t kDim = 7;

/// A star of five, recorded for its peers `first` to first + rows - 1: peer 0 sends to the others
/// and they to it; codes are 10 + i bytes long, and 100 bytes for a second vector.
class Star {
 public:
  Star(std::size_t first, std::size_t rows)
      : first_(first),
        rows_(rows),
        ledger_(Link("none", kPeers, 1),
                {.peers = kPeers, .first = first, .rows = rows, .dim = kDim}) {}

  Ledger& operator*() { return ledger_; }
  Ledger* operator->() { return &ledger_; }

  void round(std::uint64_t round) {
    std::vector<double> losses;
    std::vector<std::uint64_t> lengths;
    for (std::size_t i = first_; i < first_ + rows_; ++i) {
      losses.push_back(static_cast<double>(1 + i) / static_cast<double>(3 + round));
      lengths.push_back(10 + i);
    }
    ledger_.gradient(round, losses);
    compress::Lengths one, two;
    one.bytes = lengths;
    one.paper_bytes = 8;
    two.fixed_bytes = 100;
    two.paper_bytes = 80;
    ledger_.emitted(std::vector{one, two});
    ledger_.gossip(schedule_->at(round, 0), false);
    ledger_.global();
  }

 private:
  std::size_t first_, rows_;
  std::unique_ptr<graph::Schedule> schedule_ = graph::make_schedule("star", {.peers = kPeers});
  Ledger ledger_;
};

std::string failure_of(const Ledger& ledger) {
  try {
    ledger.check();
  } catch (const RunFailed& error) {
    return error.what();
  }
  return "no failure";
}

/// All numbers, for comparison.
auto numbers_of(const PeerTotals& totals) {
  const Traffic& sent = totals.traffic;
  return std::tuple(totals.loss_sum, sent.messages, sent.edge_rounds, sent.bytes, sent.paper_bytes,
                    totals.bytes_ahead);
}

TEST(Ledger, CountWhatEachPeerSends) {
  Star star(0, kPeers);
  star.round(0);
  star.round(1);
  for (std::size_t i = 0; i < kPeers; ++i) {
    const std::uint64_t edges = i == 0 ? 4 : 1;
    const Traffic traffic = star->totals(i).traffic;
    EXPECT_EQ(traffic.edge_rounds, 2 * edges) << i;
    EXPECT_EQ(traffic.messages, 2 * 2 * edges) << i;
    EXPECT_EQ(traffic.bytes, 2 * edges * (2 * compress::kHeaderBytes + 10 + i + 100)) << i;
    EXPECT_EQ(traffic.paper_bytes, 2 * edges * 88) << i;
    EXPECT_EQ(traffic.global_bytes, 0u) << i;
  }
  EXPECT_EQ(star->run_totals().global_bytes, 2 * 2 * (kPeers - 1) * 4 * kDim);
}

/// Peers send to the next peer in even rounds, to the one after it in odd ones.
TEST(Ledger, CountEachEdgeOfAGraphThatChanges) {
  const auto schedule = graph::make_schedule("one-peer-exponential", {.peers = 4});
  Ledger ledger(Link("none", 4, 1),
                {.peers = 4, .first = 1, .rows = 2, .dim = kDim, .by_edge = true});
  for (std::uint64_t round = 0; round < 5; ++round) {
    const std::vector<std::uint64_t> bytes{100 + round, 200 + round};
    compress::Lengths lengths;
    lengths.bytes = bytes;
    ledger.emitted(std::vector{lengths});
    ledger.gossip(schedule->at(round, 0), false);
  }
  const std::uint64_t header = compress::kHeaderBytes;
  EXPECT_EQ(ledger.totals(0).bytes_ahead,
            (std::vector<std::uint64_t>{3 * header + 306, 2 * header + 204, 0}));
  EXPECT_EQ(ledger.totals(1).bytes_ahead,
            (std::vector<std::uint64_t>{3 * header + 606, 2 * header + 404, 0}));
}

TEST(Ledger, LeaveEdgesOutWhereTheyAreAlikeOrMany) {
  EXPECT_TRUE(Star(0, kPeers)->totals(0).bytes_ahead.empty());
  for (const std::size_t peers : {Traffic::kEdgesToldOf, Traffic::kEdgesToldOf + 1}) {
    const Ledger ledger(Link("none", peers, 1),
                        {.peers = peers, .rows = peers, .dim = kDim, .by_edge = true});
    EXPECT_EQ(ledger.totals(0).bytes_ahead.size(), peers == 64 ? 63u : 0u);
  }
}

TEST(Ledger, OfSomePeersAreTheirsAmongThoseOfAll) {
  Star all(0, kPeers), some(1, 3);
  for (std::uint64_t round : {0, 1, 2}) {
    all.round(round);
    some.round(round);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(numbers_of(some->totals(i)), numbers_of(all->totals(1 + i))) << i;
  }
  EXPECT_EQ(some->run_totals().global_bytes, all->run_totals().global_bytes);
  EXPECT_EQ(some->run_totals().loss_rounds, 3u);
}

TEST(Ledger, LossesAreAddedUpFromOneEvaluationToTheNext) {
  Star star(1, 2);
  star.round(0);
  star.round(1);
  EXPECT_EQ(star->totals(1).loss_sum, 3.0 / 3.0 + 3.0 / 4.0);
  EXPECT_EQ(star->run_totals().loss_rounds, 2u);
  star->evaluated(0.5);
  EXPECT_EQ(star->totals(1).loss_sum, 0);
  EXPECT_EQ(star->run_totals().loss_rounds, 0u);
  EXPECT_EQ(star->run_totals().last_train_loss, 0.5);
  EXPECT_EQ(star->totals(1).traffic.edge_rounds, 2u) << "traffic is of the whole run";
  star.round(2);
  EXPECT_EQ(star->totals(0).loss_sum, 2.0 / 5.0);
}

TEST(Ledger, NameThePeerByItsNumberInTheRun) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Star of_loss(2, 2), of_step(2, 2), of_model(2, 2);
  of_loss->gradient(7, std::vector{1.0, nan});
  EXPECT_EQ(failure_of(*of_loss),
            "[train] the loss of peer 3 is nan in round 7; lower --lr or the averaging rate eta");
  of_step->step(8, std::vector{nan, 1.0});
  EXPECT_EQ(failure_of(*of_step),
            "[train] the step of peer 2 is not finite in round 8; lower --lr or the averaging rate "
            "eta");
  of_model->models(16, std::vector{1.0, nan});
  EXPECT_EQ(failure_of(*of_model),
            "[train] the model of peer 3 is not finite in round 16; lower --lr or the averaging "
            "rate eta");
}

TEST(Ledger, AddNothingAfterTheFirstFailure) {
  Star star(0, kPeers);
  star.round(0);
  const auto before = numbers_of(star->totals(0));
  star->step(1, std::vector<double>(kPeers, std::numeric_limits<double>::infinity()));
  star.round(1);
  EXPECT_EQ(numbers_of(star->totals(0)), before);
  EXPECT_EQ(star->run_totals().loss_rounds, 1u);
}

TEST(Ledger, HoldClocksInTheirStateOnlyIfLinksAreSimulated) {
  const auto holds_clocks = [](const char* link) {
    Ledger ledger(Link(link, kPeers, 1), {.peers = kPeers, .rows = kPeers, .dim = kDim});
    backend::StateList list;
    ledger.state(list);
    return std::ranges::find(list.items(), "link_clock", &backend::StateList::Item::name) !=
           list.items().end();
  };
  EXPECT_FALSE(holds_clocks("none"));
  EXPECT_TRUE(holds_clocks("latency=1"));
}

}  // namespace
}  // namespace hearsay::gossip
