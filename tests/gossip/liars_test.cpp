#include "hearsay/gossip/liars/liars.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"
#include "hearsay/gossip/round_driver.h"
#include "support/inproc.h"
#include "support/message_of.h"

namespace hearsay::gossip {
namespace {

std::vector<float> told(std::string_view spec, const Knowledge& knowledge, double scale = 1) {
  std::vector<float> z(knowledge.own.x.size());
  lie_registry().make(spec, LieContext{.seed = 3, .scale = scale})->tell(knowledge, z);
  return z;
}

/// Root of the mean square of the entries.
double size_of(std::span<const float> z) { return scale_of(z); }

TEST(Lie, FollowsItsFormula) {
  const std::vector<float> own = {2, -4}, a = {1, 5}, b = {3, 5}, c = {10, 20};
  const Knowledge known{.liar = 1, .round = 7, .own = {own, 2}, .honest = {{a, 1}, {b, 1}, {c, 2}}};
  EXPECT_EQ(told("sign-flip", known), (std::vector<float>{-1, 2}));
  // Models 1, 3, 5 and 5, 5, 10.
  const std::vector<float> alie = told("alie:times=2", known);
  EXPECT_NEAR(alie[0], 3 - 2 * std::sqrt(8.0 / 3), 1e-6);
  EXPECT_NEAR(alie[1], 20.0 / 3 - 2 * std::sqrt(50.0 / 9), 1e-6);
}

TEST(Lie, NoiseIsNewInEveryRoundAndOfTheSizeOfTheModel) {
  const std::vector<float> own(4000, 3.0f);
  Knowledge known{.liar = 1, .round = 7, .own = {own, 2}};
  std::vector<float> first = told("noise:times=10", known);
  EXPECT_EQ(first, told("noise:times=10", known));
  known.round = 8;
  EXPECT_NE(first, told("noise:times=10", known));
  for (float& value : first) value -= 1.5f;
  EXPECT_NEAR(size_of(first), 15, 0.6);
}

TEST(Lie, ConstantIsTheSameForAllLiarsAndRounds) {
  const std::vector<float> own(4000, 3.0f), other(4000, -1.0f);
  const std::vector<float> first = told("constant", {.liar = 1, .round = 7, .own = {own, 1}}, 0.1);
  EXPECT_EQ(first, told("constant", {.liar = 5, .round = 0, .own = {other, 2}}, 0.1));
  EXPECT_NEAR(size_of(first), 0.1, 0.005);
}

TEST(Liars, AreThoseNamedOrDrawn) {
  EXPECT_EQ(liars_of("noise:at=11+0", 16, 1), (std::vector<std::uint32_t>{0, 11}));
  EXPECT_TRUE(liars_of("none", 16, 1).empty());
  std::set<std::vector<std::uint32_t>> drawn;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const auto liars = liars_of("sign-flip:peers=3", 16, seed);
    EXPECT_EQ(liars.size(), 3u);
    EXPECT_EQ(liars, liars_of("alie:peers=3", 16, seed));
    drawn.insert(liars);
  }
  EXPECT_GT(drawn.size(), 10u);
}

TEST(Liars, RefuseWhoDoesNotExist) {
  const auto message = [](std::string_view spec) {
    return support::message_of([&] { liars_of(spec, 4, 1); });
  };
  EXPECT_EQ(message("noise:at=4"), "[noise] at must be any, or numbers below 4 joined by +, got 4");
  EXPECT_EQ(message("noise:at=1+x"),
            "[noise] at must be any, or numbers below 4 joined by +, got 1+x");
  EXPECT_EQ(message("noise:peers=4"), "[noise] all 4 peers lie; leave at least one honest");
  EXPECT_EQ(message("shout"),
            "[lie] no lie is named 'shout'; there are none, sign-flip, noise, alie, constant");
}

// ---- In rounds ----

/// Sixteen peers, each of which is pulled to its own number near 5.
DriverParts sixteen(std::string_view algorithm, std::string_view graph) {
  return {.layout = Layout(3),
          .schedule = graph::make_schedule(graph, {.peers = 16}),
          .method = algorithm::make_method(algorithm),
          .initial_model = [](std::uint32_t, std::span<float> x) { std::ranges::fill(x, 1.0f); },
          .graph_name = std::string(graph)};
}

void run(RoundDriver& driver, int rounds) {
  for (int t = 0; t < rounds; ++t) {
    driver.run_round({.lr = 0.1f, .measure_mass = true}, [&] {
      for (std::size_t i = 0; i < driver.rows(); ++i) {
        const float target = 5 + 0.1f * static_cast<float>((driver.first() + i) % 5);
        for (std::size_t k = 0; k < 3; ++k) {
          driver.gradient().row(i)[k] = driver.models().row(i)[k] - target;
        }
      }
      std::ranges::fill(driver.losses(), 1.0);
    });
  }
}

/// The largest error of an honest peer.
double error_of(const RoundDriver& driver) {
  double worst = 0;
  for (std::size_t i = 0; i < driver.rows(); ++i) {
    if (i == 0 || i == 11) continue;
    for (const float value : driver.models().row(i)) {
      worst = std::max(worst, std::abs(static_cast<double>(value) - 5.2));
    }
  }
  return worst;
}

double error_after(DriverParts parts, const std::string& robust, const std::string& liars) {
  parts.robust = robust;
  parts.liars = liars;
  RoundDriver driver(std::move(parts));
  run(driver, 200);
  EXPECT_EQ(driver.conserves_mass(), robust == "none" && liars == "none");
  return error_of(driver);
}

/// Two of sixteen ruin all that believe them, and not those that protect themselves.
TEST(Liars, RuinWhoBelievesThem) {
  for (const char* lie : {"sign-flip:at=0+11", "noise:at=0+11", "constant:at=0+11"}) {
    EXPECT_GT(error_after(sixteen("sgp", "exponential"), "none", lie), 1) << lie;
    EXPECT_GT(error_after(sixteen("dsgd", "torus:4x4"), "none", lie), 1) << lie;
    EXPECT_LT(error_after(sixteen("sgp", "exponential"), "clip", lie), 0.4) << lie;
    EXPECT_LT(error_after(sixteen("dsgd", "torus:4x4"), "clip", lie), 0.4) << lie;
    EXPECT_LT(error_after(sixteen("dsgd", "torus:4x4"), "trimmed-mean", lie), 0.4) << lie;
  }
  EXPECT_LT(error_after(sixteen("sgp", "exponential"), "none", "none"), 0.2);
}

TEST(Liars, MayClaimAnyWeight) {
  const char* lie = "sign-flip:at=0+11,weight=1000";
  EXPECT_LT(error_after(sixteen("sgp", "exponential"), "clip", lie), 0.6);
  EXPECT_EQ(support::message_of([&] { error_after(sixteen("dsgd", "torus:4x4"), "clip", lie); }),
            "[sign-flip] weight is that of push-sum, and dsgd has none; drop weight, or use sgp");
}

/// A liar's state is what it would be if it were honest, as long as nobody else is moved by it.
TEST(Liars, KnowAGoodModel) {
  DriverParts parts = sixteen("dsgd", "torus:4x4");
  parts.robust = "trimmed-mean";
  parts.liars = "constant:at=0+11";
  RoundDriver driver(std::move(parts));
  run(driver, 200);
  EXPECT_NEAR(driver.models().row(0)[0], 5.2, 0.4);
  EXPECT_NEAR(driver.average_model()[0], 5.2, 0.4);
}

TEST(Liars, AreNotAveraged) {
  DriverParts parts = sixteen("dsgd", "complete");
  parts.liars = "constant:at=0+11";
  parts.initial_model = [](std::uint32_t peer, std::span<float> x) {
    std::ranges::fill(x, peer == 0 || peer == 11 ? 100.0f : 1.0f);
  };
  const RoundDriver driver(std::move(parts));
  EXPECT_EQ(driver.average_model(), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(driver.consensus().distances[3], 0);
  EXPECT_EQ(driver.liars().size(), 2u);
}

TEST(Liars, AreRefusedWhereMessagesAreNotModels) {
  DriverParts parts = sixteen("scsp", "exponential");
  parts.liars = "noise";
  EXPECT_EQ(support::message_of([&] { RoundDriver(std::move(parts)); }),
            "[noise] is for messages that are models, and scsp sends something else or averages "
            "globally; use one of dsgd, sgp, qg-dmsgd");
}

/// The same rule in several processes, which are threads: the same models.
TEST(RobustRounds, AreTheSameInSeveralProcesses) {
  const auto parts = [](std::string_view algorithm, std::string_view graph, std::string robust) {
    DriverParts made = sixteen(algorithm, graph);
    made.robust = std::move(robust);
    made.initial_model = [](std::uint32_t peer, std::span<float> x) {
      for (std::size_t k = 0; k < 3; ++k) x[k] = static_cast<float>(peer * k);
    };
    return made;
  };
  for (const bool clips : {true, false}) {
    const auto make = [&] {
      return clips ? parts("sgp", "exponential", "clip")
                   : parts("dsgd", "torus:4x4", "trimmed-mean");
    };
    RoundDriver alone(make());
    run(alone, 10);
    transport::Hub hub(3, {.shuffle = 7});
    std::vector<std::unique_ptr<transport::Transport>> transports;
    for (std::size_t p = 0; p < 3; ++p) transports.push_back(hub.join(p));
    std::vector<std::jthread> threads;
    for (std::size_t p = 0; p < 3; ++p) {
      threads.emplace_back([&, p] {
        ProcessGroup group(*transports[p]);
        RoundDriver some(make(), std::make_shared<Machine>("cpu", 1, group));
        run(some, 10);
        for (std::size_t i = 0; i < some.rows(); ++i) {
          for (std::size_t k = 0; k < 3; ++k) {
            EXPECT_EQ(some.models().row(i)[k], alone.models().row(some.first() + i)[k]);
          }
        }
      });
    }
  }
}

}  // namespace
}  // namespace hearsay::gossip
