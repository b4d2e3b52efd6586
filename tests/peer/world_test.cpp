#include "hearsay/peer/world/world.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/train/trainer.h"
#include "peer/audited_world.h"

namespace hearsay::peer {
namespace {

/// A number from the environment: tests/soak.sh runs more worlds, or one again.
std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// The options of a random world.
train::RunOptions random_world(std::uint64_t seed) {
  Random random(seed, Purpose::kTest);
  const auto one_of = [&](std::initializer_list<const char*> all) {
    return std::string(all.begin()[random.below(all.size())]);
  };
  const auto maybe = [&] { return random.below(2) > 0; };
  train::RunOptions options{.peers = 2 + random.below(15)};
  options.seed = seed;
  options.timing = "asynchronous";
  options.graph =
      one_of({"ring:directed", "ring", "exponential", "one-peer-exponential", "complete"});
  options.algorithm = one_of({"sgp", "sparse-push:eta=0.3", "scsp:eta=0.3,final=10"});
  if (options.algorithm != "sgp") {
    options.compressor = one_of({"topk:keep=0.1", "topk:keep=0.5,value=f16", "sign", "int8"});
  }
  options.data = one_of({"least-squares:dim=12", "consensus:dim=8"});
  options.rounds = 60;
  options.link = fmt::format("speeds={:.2f}", std::exp(random.uniform() * std::log(10)));
  if (maybe()) options.link += fmt::format(",delay={:.3f}", 0.3 * random.uniform());
  if (maybe()) options.link += fmt::format(",loss={:.3f}", 0.3 * random.uniform());
  if (maybe()) options.link += fmt::format(",duplicate={:.3f}", 0.3 * random.uniform());
  if (maybe()) {
    const double when = 0.6 * random.uniform();
    options.link += fmt::format(",kill={}@{:.3f}", 1 + random.below(options.peers - 1), when);
    if (maybe()) options.link += fmt::format(",back={:.3f}", when + 0.3);
  }
  if (maybe()) {
    const double when = 0.6 * random.uniform();
    options.link += fmt::format(",cut={:.3f}..{:.3f}", when, when + 0.3);
  }
  return options;
}

/// Runs `count` random worlds; the seed and the violation of the first that has one, or "".
std::string first_violation(std::uint64_t first, std::uint64_t count, const Controls& controls) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const train::RunOptions options = random_world(seed);
    const std::string violation = AuditedWorld(options, controls).run();
    if (violation.empty()) continue;
    return fmt::format("{} (HEARSAY_FIRST_WORLD={}: {} and {} on {} of {} peers, --link {})",
                       violation, seed, options.algorithm, options.compressor, options.graph,
                       options.peers, options.link);
  }
  return "";
}

TEST(World, ConservesMassInRandomWorlds) {
  const std::uint64_t first = from_environment("HEARSAY_FIRST_WORLD", 1);
  EXPECT_EQ(first_violation(first, from_environment("HEARSAY_WORLDS", 300), {}), "");
}

TEST(World, IsCaughtWhenItAppliesDuplicates) {
  EXPECT_NE(first_violation(1, 20, {.dedupe = false}).find("applied twice"), std::string::npos);
}

TEST(World, IsCaughtWhenItDoesNotSettle) {
  EXPECT_NE(first_violation(1, 60, {.settle = false}).find("and knows of 0"), std::string::npos);
}

TEST(World, IsCaughtWhenItDoesNotTakeBack) {
  EXPECT_NE(first_violation(1, 60, {.take_back = false}).find(" waits for "), std::string::npos);
}

TEST(World, SkipsNoEdgeForLongInAHealthyFleet) {
  for (const char* graph : {"exponential", "one-peer-exponential", "complete", "ring:directed"}) {
    for (const std::uint64_t peers : {4, 16}) {
      train::RunOptions options{.peers = peers};
      options.graph = graph;
      options.algorithm = "sgp";
      options.data = "least-squares:dim=12";
      options.rounds = 400;
      options.link = "speeds=4,delay=0.05";
      AuditedWorld world(options);
      EXPECT_EQ(world.run(), "");
      EXPECT_LT(world.longest_skip(), 100u) << graph << " of " << peers;
    }
  }
}

/// Rounds of the sender between sending and applying a message, counted.
class CountsStaleness final : public WorldObserver {
 public:
  void moved(const Movement& movement) override {
    const Peer* sender = world->peer(movement.sender);
    if (sender == nullptr) return;
    const auto rounds = static_cast<double>(sender->driver().round());
    const std::array<std::uint64_t, 3> message{movement.sender, movement.receiver, movement.number};
    if (movement.kind == Movement::Kind::kSent) sent_[message] = rounds + 1;  // at its end
    if (movement.kind != Movement::Kind::kApplied) return;
    sum_ += rounds - sent_.at(message);
    ++count_;
  }
  double mean() const { return sum_ / count_; }

  const World* world = nullptr;

 private:
  std::map<std::array<std::uint64_t, 3>, double> sent_;
  double sum_ = 0, count_ = 0;
};

TEST(World, CountsHowOldMessagesAre) {
  train::RunOptions options{.peers = 8};
  options.timing = "asynchronous";
  options.graph = "exponential";
  options.algorithm = "sgp";
  options.data = "least-squares:dim=12";
  options.rounds = 300;
  const auto run = [&](const char* link, CountsStaleness& observer) {
    options.link = link;
    World world({.options = train::resolve(options), .observer = &observer});
    observer.world = &world;
    while (world.step()) {
    }
    return world.counts();
  };
  for (const char* link : {"delay=0.3", "speeds=4,delay=0.1"}) {
    CountsStaleness observer;
    const WorldCounts counts = run(link, observer);
    EXPECT_EQ(counts.aged, counts.messages.applied);
    EXPECT_DOUBLE_EQ(counts.staleness / static_cast<double>(counts.aged), observer.mean()) << link;
  }
  // A message takes 0.3 s, and waits half a round of 0.1 s on average.
  CountsStaleness observer;
  const WorldCounts counts = run("delay=0.3,compute=0.1", observer);
  EXPECT_NEAR(counts.staleness / static_cast<double>(counts.aged), 3.5, 0.35);
}

/// What a device can tell, if frames take no time: half a round more or less.
TEST(World, EstimatesHowOldMessagesAre) {
  const train::RunOptions options = [] {
    train::RunOptions one{.peers = 8};
    one.timing = "asynchronous";
    one.graph = "exponential";
    one.algorithm = "sgp";
    one.data = "least-squares:dim=12";
    one.rounds = 1000;
    one.link = "speeds=30";
    return one;
  }();
  World world({.options = train::resolve(options)});
  while (world.step()) {
  }
  double estimated = 0, applied = 0;
  for (std::uint32_t slot = 0; slot < world.peers(); ++slot) {
    estimated += world.peer(slot)->counts().staleness;
    applied += static_cast<double>(world.peer(slot)->counts().applied);
  }
  const WorldCounts counts = world.counts();
  const double exact = counts.staleness / static_cast<double>(counts.aged);
  EXPECT_GT(exact, 1);
  EXPECT_NEAR(estimated / applied, exact, 0.5);
}

TEST(World, RefusesWhatCannotBeAsynchronous) {
  const auto refusal = [](const train::RunOptions& options) -> std::string {
    try {
      World world({.options = train::resolve(options)});
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  train::RunOptions options{.peers = 6};
  options.data = "consensus";
  options.graph = "torus:2x3";
  EXPECT_EQ(refusal(options).substr(0, 60),
            "[graph] asynchronous peers come and go, and there is no toru");
  options.graph = "ring";
  options.algorithm = "choco";
  EXPECT_EQ(
      refusal(options),
      "[choco] needs rounds in lock step; of asynchronous peers use sgp, sparse-push or scsp");
  options.algorithm = "sgp";
  options.link = "kill=6@0.5";
  EXPECT_NE(refusal(options).find("[link] kill must be"), std::string::npos);
}

}  // namespace
}  // namespace hearsay::peer
