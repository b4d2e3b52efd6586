#include "hearsay/gossip/link.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"

namespace hearsay::gossip {
namespace {

using Clocks = std::vector<double>;

Clocks clocks(Link& link) {
  backend::StateList list;
  link.state(list);
  return *std::get<std::vector<double>*>(list.items().front().place);
}

/// 0 -> 1 -> 2 -> 0.
graph::Weights directed_ring() { return {3, {{0, 1, 0.5}, {1, 2, 0.5}, {2, 0, 0.5}}}; }

constexpr std::string_view kSlow = "latency=1,bandwidth=10,compute=2";
const std::vector<std::size_t> kBytes{10, 20, 30};

TEST(Link, NoneIsInfinitelyFast) {
  Link link("none", 3, 1);
  link.compute(0);
  link.gossip(directed_ring(), kBytes, false);
  link.global(1000);
  EXPECT_FALSE(link.simulated());
  EXPECT_EQ(link.seconds(), 0);
  EXPECT_TRUE(link.arrives({0, 1, 0.5}, 0));
}

// Round 1: all have computed at 2 and sent at 3, 4, 5; what comes in arrives at 6, 4, 5.
// Round 2: computed at 8, 6, 7, sent at 9, 8, 10; what comes in arrives at 11, 10, 9.
TEST(Link, APeerGoesOnWhenItHasSentAndReceived) {
  Link link(kSlow, 3, 1);
  link.compute(0);
  EXPECT_EQ(clocks(link), (Clocks{2, 2, 2}));
  link.gossip(directed_ring(), kBytes, false);
  EXPECT_EQ(clocks(link), (Clocks{6, 4, 5}));
  link.compute(1);
  link.gossip(directed_ring(), kBytes, false);
  EXPECT_EQ(clocks(link), (Clocks{11, 10, 10}));
  EXPECT_EQ(link.seconds(), 11);
}

// Sent at 1, 2, 3 while computing until 2; what comes in arrives at 4, 2, 3.
TEST(Link, SendingFirstOverlapsWithTheGradient) {
  Link link(kSlow, 3, 1);
  link.compute(0);
  link.gossip(directed_ring(), kBytes, true);
  EXPECT_EQ(clocks(link), (Clocks{4, 2, 3}));
  link.compute(1);  // begins where the first round ended: sent at 5, 4, 6, computed at 6, 4, 5
  link.gossip(directed_ring(), kBytes, true);
  EXPECT_EQ(clocks(link), (Clocks{7, 6, 6}));
}

TEST(Link, APeerSendsToOneNeighbourAfterTheOther) {
  const graph::Weights star(3, {{0, 1, 0.3}, {0, 2, 0.3}, {1, 0, 0.3}, {2, 0, 0.3}});
  Link link("latency=1,bandwidth=10", 3, 1);
  link.gossip(star, std::vector<std::size_t>{10, 0, 0}, false);
  EXPECT_EQ(clocks(link), (Clocks{2, 2, 3}));
}

// The last peer is ready at 6; a ring all-reduce of 3 peers takes 4 latencies and 4/3 of 30 bytes.
TEST(Link, AGlobalAverageWaitsForTheLast) {
  Link link(kSlow, 3, 1);
  link.compute(0);
  link.gossip(directed_ring(), kBytes, false);
  link.global(30);
  EXPECT_EQ(clocks(link), (Clocks{14, 14, 14}));
}

TEST(Link, StragglersAreAFunctionOfTheSeed) {
  const auto after = [](std::uint64_t seed, std::uint32_t round) {
    Link link("compute=1,straggler=0.5", 3, seed);
    link.compute(round);
    return clocks(link);
  };
  EXPECT_EQ(after(7, 3), after(7, 3));
  EXPECT_NE(after(7, 3), after(8, 3));
  EXPECT_NE(after(7, 3), after(7, 4));
  EXPECT_NE(after(7, 3)[0], after(7, 3)[1]);
}

TEST(Link, StragglersTakeTheStatedShareLongerOnAverage) {
  constexpr std::uint32_t kRounds = 10'000;
  Link link("compute=2,straggler=0.5", 1, 3);
  for (std::uint32_t round = 0; round < kRounds; ++round) link.compute(round);
  // The standard deviation of the mean is 2 * 0.5 / sqrt(10^4) = 0.01.
  EXPECT_NEAR(link.seconds() / kRounds, 2 * (1 + 0.5), 0.05);
}

TEST(Link, LosesTheStatedShareOfMessages) {
  const Link link("loss=0.2", 10, 5);
  std::size_t lost = 0;
  constexpr std::uint32_t kRounds = 400;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    for (std::uint32_t sender = 0; sender < 10; ++sender) {
      for (std::uint32_t receiver = 0; receiver < 10; ++receiver) {
        const graph::Edge edge{sender, receiver, 0.1};
        lost += link.arrives(edge, round) ? 0 : 1;
        EXPECT_EQ(link.arrives(edge, round), link.arrives(edge, round));
      }
    }
  }
  // Standard deviation sqrt(0.2 * 0.8 / 40000) = 0.002.
  EXPECT_NEAR(static_cast<double>(lost) / (100.0 * kRounds), 0.2, 0.01);
}

TEST(Link, SaysWhatIsWrong) {
  const auto message_of = [](const char* keys) -> std::string {
    try {
      Link(keys, 3, 1);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message_of("loss=1"), "[link] loss must be in [0, 1), got 1");
  EXPECT_EQ(message_of("latency=-1"), "[link] latency must be in [0, inf), got -1");
  EXPECT_EQ(message_of("bandwidth=0"), "[link] bandwidth must be in (0, inf), got 0");
  EXPECT_EQ(message_of("bandwith=1e6"),
            "[link] has no parameter 'bandwith' (did you mean 'bandwidth'?); it takes latency, "
            "bandwidth, compute, straggler, loss");
}

}  // namespace
}  // namespace hearsay::gossip
