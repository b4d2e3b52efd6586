#include "hearsay/peer/live_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "support/message_of.h"

namespace hearsay::peer {
namespace {

constexpr const char* kGraphsOfAnySize[] = {"ring",        "ring:directed", "star",
                                            "complete",    "exponential",   "one-peer-exponential",
                                            "random:p=0.6"};

MakeGraph maker_of(const std::string& spec) {
  return [spec](std::size_t peers) { return graph::make_schedule(spec, {peers, 1}); };
}

using Peers = std::vector<std::uint32_t>;

Peers receivers_of(const graph::Weights& weights, std::uint32_t sender) {
  Peers receivers;
  for (const graph::Edge& edge : weights.out_of(sender)) receivers.push_back(edge.receiver);
  return receivers;
}

TEST(LiveSchedule, IsTheGraphOfTheFleetWhileAllLive) {
  for (const char* spec : kGraphsOfAnySize) {
    const auto fleet = maker_of(spec)(7);
    for (std::uint32_t self = 0; self < 7; ++self) {
      LiveSchedule schedule(maker_of(spec), 7, self);
      EXPECT_EQ(schedule.peers(), 7u);
      for (std::uint64_t round = 0; round < 6; ++round) {
        const graph::Weights& own = schedule.at(round, 0);
        EXPECT_TRUE(std::ranges::equal(own.out_of(self), fleet->at(round, 0).out_of(self)));
        EXPECT_EQ(own.self(self), fleet->at(round, 0).self(self));
      }
    }
  }
}

TEST(LiveSchedule, HasTheEdgesOfTheSmallerGraphAmongWhoIsLive) {
  const Peers live{0, 2, 3, 6, 7};
  for (const char* spec : kGraphsOfAnySize) {
    const auto smaller = maker_of(spec)(live.size());
    for (std::uint32_t place = 0; place < live.size(); ++place) {
      LiveSchedule schedule(maker_of(spec), 8, live[place]);
      schedule.set_live(live);
      EXPECT_EQ(schedule.live(), live);
      for (std::uint64_t round = 0; round < 6; ++round) {
        const graph::Weights& own = schedule.at(round, 0);
        const graph::Weights& same = smaller->at(round, 0);
        std::vector<graph::Edge> expected;
        for (const graph::Edge& edge : same.out_of(place)) {
          expected.push_back({live[place], live[edge.receiver], edge.weight});
        }
        EXPECT_TRUE(std::ranges::equal(own.edges(), expected)) << spec << ", round " << round;
        EXPECT_EQ(own.peers(), 8u);
        EXPECT_EQ(own.self(live[place]), same.self(place)) << "columns sum to 1";
      }
    }
  }
}

TEST(LiveSchedule, FollowsWhoComesAndGoes) {
  LiveSchedule schedule(maker_of("ring:directed"), 5, 1);
  EXPECT_EQ(receivers_of(schedule.at(0, 0), 1), (Peers{2}));
  schedule.set_live({0, 1, 4});
  EXPECT_EQ(receivers_of(schedule.at(1, 0), 1), (Peers{4}));
  schedule.set_live({0, 1});
  EXPECT_EQ(receivers_of(schedule.at(2, 0), 1), (Peers{0}));
  schedule.set_live({0, 1, 2, 3, 4});
  EXPECT_EQ(receivers_of(schedule.at(3, 0), 1), (Peers{2}));
}

TEST(LiveSchedule, KeepsEverythingIfAlone) {
  LiveSchedule schedule(maker_of("complete"), 4, 2);
  schedule.set_live({2});
  EXPECT_EQ(schedule.at(0, 0).edge_count(), 0u);
  EXPECT_EQ(schedule.at(0, 0).self(2), 1);
  EXPECT_TRUE(schedule.neighbours().empty());
  schedule.set_live({1, 2});
  EXPECT_EQ(receivers_of(schedule.at(1, 0), 2), (Peers{1}));
}

TEST(LiveSchedule, NamesWhoSendsToItAndWhomItSendsTo) {
  LiveSchedule ring(maker_of("ring:directed"), 6, 0);
  EXPECT_EQ(ring.neighbours(), (Peers{1, 5}));
  ring.set_live({0, 2, 3, 4});
  EXPECT_EQ(ring.neighbours(), (Peers{2, 4}));

  LiveSchedule hops(maker_of("one-peer-exponential"), 8, 0);
  EXPECT_EQ(hops.neighbours(), (Peers{1, 2, 4, 6, 7})) << "of all rounds of the period";

  LiveSchedule star(maker_of("star"), 4, 3);
  EXPECT_EQ(star.neighbours(), (Peers{0}));
  star.set_live({1, 2, 3});
  EXPECT_EQ(star.neighbours(), (Peers{1})) << "the centre is the first that lives";
}

TEST(LiveSchedule, NamesAllOfAGraphThatNeverRepeats) {
  LiveSchedule schedule(maker_of("random:p=0.3,every=1"), 6, 2);
  EXPECT_FALSE(schedule.repeats());
  EXPECT_EQ(schedule.neighbours(), (Peers{0, 1, 3, 4, 5}));
  schedule.set_live({1, 2, 5});
  EXPECT_EQ(schedule.neighbours(), (Peers{1, 5}));
}

TEST(LiveSchedule, HasThePeriodOfTheWholeFleet) {
  LiveSchedule schedule(maker_of("one-peer-exponential"), 8, 0);
  schedule.set_live({0, 1});
  EXPECT_EQ(schedule.period().size(), 3u);
  EXPECT_EQ(schedule.phase(17, 3), 0u);
}

TEST(LiveSchedule, AcceptsGraphsOfAnySize) {
  for (const char* spec : kGraphsOfAnySize) {
    EXPECT_NO_THROW(check_any_size(maker_of(spec), 16, spec)) << spec;
  }
  EXPECT_NO_THROW(check_any_size(maker_of("torus"), 16, "torus"));
}

TEST(LiveSchedule, RejectsGraphsOfOneSize) {
  const std::string message =
      support::message_of([] { check_any_size(maker_of("torus:3x4"), 12, "torus:3x4"); });
  EXPECT_EQ(message,
            "[graph] asynchronous peers come and go, and there is no torus:3x4 of 11 peers; use "
            "ring:directed, exponential or one-peer-exponential (" +
                support::message_of([] { maker_of("torus:3x4")(11); }) + ")");
  EXPECT_THROW(check_any_size(maker_of("sparse-push:a"), 4, "sparse-push:a"), InvalidArgument);

  const MakeGraph fixed = [](std::size_t) { return graph::make_schedule("ring", {6, 1}); };
  EXPECT_NE(
      support::message_of([&] { check_any_size(fixed, 6, "mine"); }).find("no mine of 5 peers"),
      std::string::npos);

  const MakeGraph even = [](std::size_t peers) {
    if (peers % 2 != 0) throw InvalidArgument("[mine] peers must be even");
    return graph::make_schedule("ring", {peers, 1});
  };
  EXPECT_EQ(support::message_of([&] { check_any_size(even, 6, "mine"); }),
            "[graph] asynchronous peers come and go, and there is no mine of 5 peers; use "
            "ring:directed, exponential or one-peer-exponential ([mine] peers must be even)");
  EXPECT_EQ(support::message_of([&] { check_any_size(even, 5, "mine"); }),
            "[mine] peers must be even")
      << "nothing to do with who comes and goes";
}

TEST(LiveSchedule, CountsTheHopsAcrossAGraphInEitherDirection) {
  const auto hops = [](const char* spec, std::size_t peers) {
    return hops_across(*maker_of(spec)(peers));
  };
  EXPECT_EQ(hops("complete", 5), 1u);
  EXPECT_EQ(hops("star", 9), 2u);
  EXPECT_EQ(hops("ring", 9), 4u);
  EXPECT_EQ(hops("ring:directed", 9), 4u);
  EXPECT_EQ(hops("grid:3x4", 12), 5u);
  EXPECT_EQ(hops("exponential", 16), 2u);
  EXPECT_EQ(hops("one-peer-exponential", 16), 2u);
}

}  // namespace
}  // namespace hearsay::peer
