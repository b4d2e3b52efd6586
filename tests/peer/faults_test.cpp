#include "hearsay/peer/world/faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hearsay/core/error.h"
#include "support/message_of.h"

namespace hearsay::peer {
namespace {

std::string refusal(std::string_view keys) {
  return support::message_of([&] { parse_faults(keys, 8); });
}

TEST(Faults, OfNoneAreNone) {
  const Faults faults = parse_faults("none", 8);
  EXPECT_EQ(faults.compute, 0.1);
  EXPECT_EQ(faults.speeds, 1);
  EXPECT_EQ(faults.delay, 0);
  EXPECT_EQ(faults.kill, 0u);
  EXPECT_EQ(faults.back, 0);
  EXPECT_EQ(faults.cut_to, 0);
  EXPECT_TRUE(faults.reliable());
}

TEST(Faults, HaveTheDefaultsOfTheirTable) {
  const Faults none = parse_faults("none", 8), one = parse_faults("delay=0", 8);
  EXPECT_EQ(one.compute, none.compute);
  EXPECT_EQ(one.speeds, none.speeds);
  EXPECT_EQ(one.loss, none.loss);
  EXPECT_EQ(one.duplicate, none.duplicate);
  EXPECT_EQ(one.kill, none.kill);
  EXPECT_EQ(one.back, none.back);
  EXPECT_EQ(one.cut_to, none.cut_to);
}

TEST(Faults, AreReadFromTheirKeys) {
  const Faults faults = parse_faults(
      "compute=0.5,speeds=4,delay=0.2,loss=0.1,duplicate=0.05,kill=4@0.3,back=0.5,cut=0.4..0.55",
      8);
  EXPECT_EQ(faults.compute, 0.5);
  EXPECT_EQ(faults.speeds, 4);
  EXPECT_EQ(faults.delay, 0.2);
  EXPECT_EQ(faults.loss, 0.1);
  EXPECT_EQ(faults.duplicate, 0.05);
  EXPECT_EQ(faults.kill, 4u);
  EXPECT_EQ(faults.kill_at, 0.3);
  EXPECT_EQ(faults.back, 0.5);
  EXPECT_EQ(faults.cut_from, 0.4);
  EXPECT_EQ(faults.cut_to, 0.55);
  EXPECT_EQ(parse_faults("cut=0..1", 8).cut_to, 1);
}

TEST(Faults, MakeAWireUnreliableIfFramesGetLostOrArriveTwice) {
  EXPECT_TRUE(parse_faults("delay=1,kill=1@0.5,cut=0.1..0.2", 8).reliable());
  EXPECT_FALSE(parse_faults("loss=0.01", 8).reliable());
  EXPECT_FALSE(parse_faults("duplicate=0.01", 8).reliable());
}

TEST(Faults, RejectNumbersOutOfRange) {
  EXPECT_EQ(refusal("compute=0"), "[link] compute must be in (0, 3600], got 0");
  EXPECT_EQ(refusal("speeds=0.5"), "[link] speeds must be in [1, 1000], got 0.5");
  EXPECT_EQ(refusal("speeds=1001"), "[link] speeds must be in [1, 1000], got 1001");
  EXPECT_EQ(refusal("delay=-1"), "[link] delay must be in [0, inf), got -1");
  EXPECT_EQ(refusal("delay=inf"), "[link] delay must be in [0, inf), got inf");
  EXPECT_EQ(refusal("loss=1"), "[link] loss must be in [0, 1), got 1");
  EXPECT_EQ(refusal("duplicate=1"), "[link] duplicate must be in [0, 1), got 1");
  EXPECT_EQ(refusal("kill=1@0,back=2"), "[link] back must be in [0, 1], got 2");
  EXPECT_EQ(refusal("loss=few"), "[link] loss must be in [0, 1), got few");
}

TEST(Faults, RejectUnknownKeysAndThoseGivenTwice) {
  EXPECT_EQ(refusal("los=0.1"),
            "[link] has no parameter 'los' (did you mean 'loss'?); it takes compute, speeds, "
            "delay, loss, duplicate, kill, back, cut");
  EXPECT_EQ(refusal("loss=0.1,loss=0.2"), "[link] loss is given twice in 'link:loss=0.1,loss=0.2'");
}

TEST(Faults, RejectADeathThatIsNoPartOfTheRunOrOfAllPeers) {
  for (const std::string kill :
       {"8@0.3", "3", "@0.3", "3@", "3@1.5", "3@-0.1", "3@nan", "-1@0.3", "3@0.3@0.4", "1.5@0.3"}) {
    EXPECT_EQ(refusal("kill=" + kill),
              "[link] kill must be COUNT@PART, with COUNT below 8 and PART in [0, 1], as in "
              "1@0.3, got " +
                  kill);
  }
  EXPECT_EQ(parse_faults("kill=7@0.3", 8).kill, 7u);
}

TEST(Faults, RejectAReturnWithoutADeathBefore) {
  EXPECT_EQ(refusal("back=0.5"), "[link] back must be after the part of kill, got 0.5");
  EXPECT_EQ(refusal("kill=1@0.5,back=0.5"), "[link] back must be after the part of kill, got 0.5");
}

TEST(Faults, RejectACutThatDoesNotEndAfterItBegins) {
  for (const std::string cut : {"0.4", "0.5..0.4", "0.4..0.4", "0.4..1.5", "-1..0.5", "..0.5",
                                "0.4..", "a..b", "nan..0.5"}) {
    EXPECT_EQ(refusal("cut=" + cut),
              "[link] cut must be PART..PART, ascending in [0, 1], as in 0.4..0.5, got " + cut);
  }
}

TEST(Faults, SpreadSlownessesFromOneToSpeedsInEqualRatios) {
  std::vector<double> all = slownesses({.speeds = 16}, 5, 3);
  EXPECT_EQ(all, slownesses({.speeds = 16}, 5, 3));
  EXPECT_NE(all, slownesses({.speeds = 16}, 5, 4));
  std::ranges::sort(all);
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_DOUBLE_EQ(all[k], std::pow(2.0, static_cast<double>(k)));
  }
  EXPECT_EQ(slownesses({.speeds = 1}, 3, 1), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(slownesses({.speeds = 16}, 1, 1), (std::vector<double>{1}));
}

TEST(Faults, ChooseDistinctVictimsAtRandom) {
  std::set<std::uint32_t> ever;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::vector<std::uint32_t> chosen = victims({.kill = 3}, 8, seed);
    ASSERT_EQ(chosen.size(), 3u);
    EXPECT_TRUE(chosen[0] < chosen[1] && chosen[1] < chosen[2] && chosen[2] < 8);
    EXPECT_EQ(chosen, victims({.kill = 3}, 8, seed));
    ever.insert(chosen.begin(), chosen.end());
  }
  EXPECT_EQ(ever.size(), 8u);
  EXPECT_TRUE(victims({}, 8, 1).empty());
}

}  // namespace
}  // namespace hearsay::peer
