#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "algorithm/world.h"
#include "hearsay/algorithm/robust/aggregation.h"
#include "hearsay/core/error.h"
#include "support/message_of.h"

/// Rules against senders that lie, compared with their formulas in doubles.
namespace hearsay::algorithm {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// One receiver, peer 0, and what others sent it.
struct Inbox {
  struct Message {
    std::uint32_t sender;
    float a;
    double u;
    std::vector<float> x;
  };
  std::vector<float> x;
  double u = 1, debit = 0;
  std::vector<Message> messages{};
  bool push_sum = true;

  Exchange exchange() const {
    Exchange e;
    e.begin = {0, static_cast<std::uint32_t>(messages.size())};
    e.debit = {debit};
    e.vectors = {{{x.data()}}};
    e.codes = {{}};
    e.sender = {0};
    if (push_sum) e.push_sum = {u};
    for (const Message& m : messages) {
      e.source.push_back(static_cast<std::uint32_t>(e.vectors[0].size()));
      e.weight.push_back(m.a);
      e.vectors[0].push_back({m.x.data()});
      e.sender.push_back(m.sender);
      if (push_sum) e.push_sum.push_back(m.u);
    }
    return e;
  }
};

/// x and u of the receiver after mixing, in doubles.
struct Mixed {
  std::vector<double> x;
  double u;
};
Mixed mixed(const Inbox& inbox, const Exchange& e) {
  Mixed to{{inbox.x.begin(), inbox.x.end()}, inbox.u * (1 - e.debit[0])};
  for (double& value : to.x) value *= 1 - e.debit[0];
  for (std::size_t k = e.begin[0]; k < e.begin[1]; ++k) {
    const std::uint32_t j = e.source[k];
    for (std::size_t c = 0; c < to.x.size(); ++c) {
      to.x[c] += static_cast<double>(e.weight[k]) * static_cast<double>(e.vectors[0][j].dense[c]);
    }
    to.u += static_cast<double>(e.weight[k]) * (e.push_sum.empty() ? 1 : e.push_sum[j]);
  }
  return to;
}

class Robust : public ::testing::Test {
 protected:
  Exchange rewritten(std::string_view spec, const Inbox& inbox) {
    Exchange exchange = inbox.exchange();
    rule_ = make_aggregation(spec, {.pool = pool_, .dim = inbox.x.size()});
    rule_->rewrite(exchange);
    return exchange;
  }

  ThreadPool pool_{2};
  std::unique_ptr<Aggregation> rule_;
};

/// (m (z_i + c (z_j - z_i)), m) for (a x_j, a u_j), added up directly.
TEST_F(Robust, ClippingByScalarsEqualsItsFormula) {
  Random random(5, Purpose::kTest);
  for (int draw = 0; draw < 200; ++draw) {
    Inbox inbox{.x = std::vector<float>(9), .u = 0.3 + random.uniform(), .debit = 0.6};
    const auto fill = [&](std::vector<float>& x) {
      for (float& value : x) value = static_cast<float>(random.normal());
    };
    fill(inbox.x);
    for (std::uint32_t j = 1; j <= 5; ++j) {
      Inbox::Message m{j, static_cast<float>(0.1 + 0.2 * random.uniform()),
                       0.3 + random.uniform() + (j == 5 ? 40 : 0), std::vector<float>(9)};
      fill(m.x);
      inbox.messages.push_back(m);
    }
    const double tau = 0.5 + 3 * random.uniform();
    // delta takes one of five for a liar: the largest mass counts as the second largest.
    const Exchange clipped = rewritten(fmt::format("clip:tau={},delta=0.2", tau), inbox);
    std::vector<double> masses;
    for (const auto& m : inbox.messages) {
      masses.push_back(std::min(1.0, static_cast<double>(m.a) * m.u));
    }
    std::vector<double> sorted = masses;
    std::ranges::sort(sorted);
    Mixed want{{}, inbox.u * (1 - inbox.debit)};
    for (float value : inbox.x) {
      want.x.push_back(static_cast<double>(value) * (1 - inbox.debit));
    }
    for (std::size_t k = 0; k < masses.size(); ++k) {
      const Inbox::Message& m = inbox.messages[k];
      double square = 0;
      for (std::size_t c = 0; c < 9; ++c) {
        square += std::pow(
            static_cast<double>(m.x[c]) / m.u - static_cast<double>(inbox.x[c]) / inbox.u, 2);
      }
      const double share =
          std::min(1.0, tau / std::sqrt(square)) * std::min(1.0, sorted[3] / masses[k]);
      want.u += masses[k];
      for (std::size_t c = 0; c < 9; ++c) {
        const double own = static_cast<double>(inbox.x[c]) / inbox.u;
        want.x[c] += masses[k] * (own + share * (static_cast<double>(m.x[c]) / m.u - own));
      }
    }
    const Mixed got = mixed(inbox, clipped);
    EXPECT_NEAR(got.u, want.u, 1e-12);
    for (std::size_t c = 0; c < 9; ++c) EXPECT_NEAR(got.x[c], want.x[c], 1e-6);
  }
}

/// Distances 1, 2, 2 and 90: one of four may lie, so tau = sqrt((1 + 4 + 4) / 3).
TEST_F(Robust, AutomaticRadiusIsThatOfTheNearest) {
  const Inbox inbox{.x = {0, 0},
                    .debit = 0.5,
                    .messages = {{1, 0.125f, 1, {1, 0}},
                                 {2, 0.125f, 1, {0, 2}},
                                 {3, 0.125f, 1, {0, -2}},
                                 {4, 0.125f, 1, {90, 0}}}};
  const Exchange clipped = rewritten("clip:tau=auto", inbox);
  const double tau = std::sqrt(3.0);
  EXPECT_EQ(clipped.weight[0], 0.125f);
  EXPECT_FLOAT_EQ(clipped.weight[1], static_cast<float>(0.125 * tau / 2));
  EXPECT_FLOAT_EQ(clipped.weight[3], static_cast<float>(0.125 * tau / 90));
  const Mixed after = mixed(inbox, clipped);
  EXPECT_NEAR(after.x[0], 0.125 * (1 + tau), 1e-7);
  EXPECT_NEAR(after.x[1], 0, 1e-7);
  EXPECT_NEAR(after.u, 1, 1e-12);
}

/// Two of eight: tau^2 is the mean of the nearest six squares.
TEST_F(Robust, DeltaSaysHowManyMayLie) {
  Inbox inbox{.x = {0}, .debit = 0.8};
  for (std::uint32_t j = 1; j <= 6; ++j) inbox.messages.push_back({j, 0.1f, 1, {1}});
  inbox.messages.push_back({7, 0.1f, 1, {-10}});
  inbox.messages.push_back({8, 0.1f, 1, {-10}});
  const Exchange clipped = rewritten("clip:tau=auto,delta=0.25", inbox);
  EXPECT_FLOAT_EQ(clipped.weight[6], 0.1f / 10);
  EXPECT_EQ(clipped.weight[0], 0.1f);
}

TEST_F(Robust, OfOneSenderOnlyMassIsTaken) {
  const Inbox inbox{.x = {3}, .debit = 0.5, .messages = {{1, 0.5f, 1, {7}}}};
  const Exchange clipped = rewritten("clip", inbox);
  EXPECT_TRUE(clipped.weight.empty());
  const Mixed after = mixed(inbox, clipped);
  EXPECT_DOUBLE_EQ(after.u, 1);
  EXPECT_DOUBLE_EQ(after.x[0], 3);
}

TEST_F(Robust, WhatIsNoNumberIsNotMixed) {
  for (const float bad : {kNan, kInfinity, -kInfinity, 3e38f}) {
    const Inbox inbox{.x = {1, 1},
                      .debit = 0.4,
                      .messages = {{1, 0.1f, 1, {2, 1}},
                                   {2, 0.1f, 1, {1, 2}},
                                   {3, 0.1f, 1, {bad, 1}},
                                   {4, 0.1f, 1, {1, 2}}}};
    for (const char* spec : {"clip", "clip:tau=1000"}) {
      const Exchange clipped = rewritten(spec, inbox);
      EXPECT_EQ(clipped.source, (std::vector<std::uint32_t>{1, 2, 4})) << spec << bad;
      EXPECT_NEAR(mixed(inbox, clipped).u, 1, 1e-8);
    }
  }
  for (const double bad : {std::nan(""), -1.0, 0.0, std::numeric_limits<double>::infinity()}) {
    const Inbox inbox{.x = {1}, .debit = 0.3, .messages = {{1, 0.1f, 1, {2}}, {2, 0.1f, bad, {2}}}};
    const Exchange clipped = rewritten("clip:tau=100", inbox);
    EXPECT_NEAR(mixed(inbox, clipped).u, 0.8, 1e-8) << bad;
  }
}

TEST_F(Robust, WhatAPeerTakesBackIsItsOwn) {
  const Inbox inbox{.x = {1},
                    .debit = 0,
                    .messages = {{0, 0.5f, 9, {-50}}, {0, -0.25f, 9, {-50}}, {1, 0.1f, 1, {2}}}};
  const Exchange clipped = rewritten("clip:tau=0.001", inbox);
  ASSERT_EQ(clipped.weight.size(), 3u);
  EXPECT_EQ(clipped.weight[0], 0.5f);
  EXPECT_EQ(clipped.weight[1], -0.25f);
}

/// A sender that claims a hundred times its weight, forever: u stays below senders / (1 - w_ii).
TEST_F(Robust, ClaimedWeightIsBounded) {
  const auto rule = make_aggregation("clip", {.pool = pool_, .dim = 1, .asynchronous = true});
  double u = 1;
  for (int round = 0; round < 500; ++round) {
    const Inbox inbox{.x = {static_cast<float>(u)},
                      .u = u,
                      .debit = 0.75,
                      .messages = {{1, 0.25f, u, {static_cast<float>(u)}},
                                   {2, 0.25f, 1e3, {-1e3}},
                                   {2, 0.25f, 1e3, {-1e3}},
                                   {3, 0.25f, u, {static_cast<float>(u)}}}};
    Exchange exchange = inbox.exchange();
    rule->rewrite(exchange);
    u = mixed(inbox, exchange).u;
    EXPECT_LE(u, 3 / 0.75 + 1e-9);
  }
}

TEST_F(Robust, TrimmedMeanLeavesOutTheLargestAndTheSmallest) {
  const Inbox inbox{.x = {10, 0},
                    .debit = 0.3,
                    .messages = {{1, 0.1f, 1, {1, kNan}},
                                 {2, 0.1f, 1, {-100, 2}},
                                 {3, 0.1f, 1, {3, 4}},
                                 {4, 0.1f, 1, {5, -kInfinity}}},
                    .push_sum = false};
  const Exchange trimmed = rewritten("trimmed-mean:cut=1", inbox);
  EXPECT_EQ(trimmed.debit[0], 1);
  const Mixed after = mixed(inbox, trimmed);
  EXPECT_NEAR(after.x[0], (10.0 + 1 + 3) / 3, 1e-6);
  EXPECT_NEAR(after.x[1], (0.0 + 2 + 4) / 3, 1e-6);
}

TEST_F(Robust, TrimmedMeanOfTooFewIsTheOwnModel) {
  const Inbox inbox{.x = {10},
                    .debit = 0.3,
                    .messages = {{1, 0.1f, 1, {1}}, {2, 0.1f, 1, {-100}}},
                    .push_sum = false};
  const Exchange trimmed = rewritten("trimmed-mean", inbox);
  EXPECT_EQ(trimmed.debit[0], 0);
  EXPECT_TRUE(trimmed.source.empty());
}

// ---- What a rule goes with ----

struct RuleCase {
  std::string spec, algorithm, graph, expected;
  bool asynchronous = false, on_host = true;
};

std::string verdict_on(const RuleCase& c) {
  const auto schedule = graph::make_schedule(c.graph, {0, 1});
  const auto facts = graph::facts_of(*schedule);
  const Method method = make_method(c.algorithm);
  const std::string message = support::message_of([&] {
    check_aggregation(c.spec, {.method = method,
                               .graph_spec = c.graph,
                               .graph = facts,
                               .schedule = *schedule,
                               .asynchronous = c.asynchronous,
                               .on_host = c.on_host});
  });
  return message == "no error" ? "fits" : message;
}

TEST(RobustFit, SaysWhatWouldDo) {
  const RuleCase cases[] = {
      {"none", "choco", "ring", "fits"},
      {"clip", "sgp", "exponential", "fits"},
      {"clip", "dsgd", "ring", "fits"},
      {"clip:tau=3", "sgp", "ring:directed", "fits"},
      {"clip", "sgp", "one-peer-exponential", "fits", true},
      {"trimmed-mean", "dsgd", "torus:4x4", "fits"},
      {"trimmed-mean", "qg-dmsgd", "complete", "fits"},
      {"clip", "scsp", "exponential",
       "[clip] is for messages that are models, and scsp sends something else or averages "
       "globally; use one of dsgd, sgp, qg-dmsgd"},
      {"clip", "dmsgd", "exponential",
       "[clip] is for messages that are models, and dmsgd sends something else or averages "
       "globally; use one of dsgd, sgp, qg-dmsgd"},
      {"clip", "pga", "ring",
       "[clip] is for messages that are models, and pga sends something else or averages globally; "
       "use one of dsgd, sgp, qg-dmsgd"},
      {"clip", "sgp", "ring:directed",
       "[clip] needs at least 2 senders for every peer and round, and in ring:directed one has 1; "
       "use exponential or a torus, or give tau a number"},
      {"clip", "sgp", "ring:directed",
       "[clip] needs at least 2 senders for every peer, and in ring:directed one has 1; use "
       "exponential or a torus, or give tau a number",
       true},
      {"clip", "sgp", "exponential",
       "[clip] compares models on the cpu, and they are on another device; drop --device or "
       "--robust",
       false, false},
      {"trimmed-mean", "sgp", "complete",
       "[trimmed-mean] leaves no meaning to the push-sum weights of sgp; use clip, or dsgd, "
       "qg-dmsgd"},
      {"trimmed-mean", "dsgd", "ring:directed",
       "[trimmed-mean] needs symmetric weights, and ring:directed has none; use torus or complete, "
       "or clip"},
      {"trimmed-mean", "dsgd", "ring",
       "[trimmed-mean] needs at least 3 senders for every peer and round, and in ring one has 2; "
       "use complete or a torus, or a smaller cut"},
      {"trimmed-mean:cut=2", "dsgd", "torus:4x4",
       "[trimmed-mean:cut=2] needs at least 5 senders for every peer and round, and in torus:4x4 "
       "one has 4; use complete or a torus, or a smaller cut"},
  };
  for (const RuleCase& c : cases) EXPECT_EQ(verdict_on(c), c.expected) << c.algorithm << c.graph;
}

TEST(RobustFit, RefusesSpecsThatMeanNothing) {
  ThreadPool pool(1);
  const auto message = [&](std::string_view spec) {
    return support::message_of([&] { make_aggregation(spec, {.pool = pool, .dim = 1}); });
  };
  EXPECT_EQ(message("clip:tau=0"), "[clip] tau must be auto or in (0, inf), got 0");
  EXPECT_EQ(message("clip:delta=0.5"), "[clip] delta must be in (0, 0.5), got 0.5");
  EXPECT_EQ(message("trimmed-mean:cut=0"),
            "[trimmed-mean] cut must be a whole number in [1, 1000000], got 0");
  EXPECT_EQ(message("clips"),
            "[robust rule] no robust rule is named 'clips' (did you mean 'clip'?); there are none, "
            "clip, trimmed-mean");
}

/// Nobody lies and nobody is far: the same bits.
TEST(RobustRounds, WideClippingChangesNothing) {
  for (const char* method : {"sgp", "sgp:overlap=1", "dsgd", "dsgd:order=awc", "qg-dmsgd"}) {
    const auto models = [&](const std::string& robust) {
      gossip::DriverParts parts = World::parts_of(
          {.algorithm = method, .graph = "exponential", .peers = 8}, World::random_start(false));
      parts.robust = robust;
      gossip::RoundDriver driver(std::move(parts));
      for (int t = 0; t < 20; ++t) {
        driver.run_round({.lr = 0.1f, .measure_mass = true}, [&] {
          World::write_gradients(
              driver,
              [](std::size_t peer, std::span<const float> at, std::span<float> d) {
                for (std::size_t k = 0; k < d.size(); ++k) d[k] = at[k] - static_cast<float>(peer);
              },
              1);
        });
      }
      const backend::ConstBlock block = driver.models();
      return std::vector<float>(block.data, block.data + block.size());
    };
    EXPECT_EQ(models("clip:tau=1e9"), models("none")) << method;
    EXPECT_NE(models("clip:tau=0.1"), models("none")) << method;
  }
}

}  // namespace
}  // namespace hearsay::algorithm
