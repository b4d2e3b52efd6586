#include <gtest/gtest.h>

#include "hearsay/run/run.h"
#include "support/every_algorithm.h"

namespace hearsay::run {
namespace {

namespace fs = std::filesystem;

/// Requests a stop once so many rounds are completed.
class StopAt : public Observer {
 public:
  explicit StopAt(std::uint64_t round) : round_(round) {}
  void progressed(const train::RunView& run) override { done_ = run.round(); }
  bool stop_requested() override { return done_ >= round_; }

 private:
  std::uint64_t round_, done_ = 0;
};

class StopOf : public support::EveryAlgorithm {};

/// Evaluations are at 0, 4, 8, ... and checkpoints at 5, 10, ...: round 13 is neither.
TEST_P(StopOf, GoesOnAsIfNothingHadHappened) {
  support::Scratch scratch;
  Observer silent;
  run(settings(), scratch / "unbroken", silent);
  StopAt first(3), second(13);
  EXPECT_FALSE(run(settings(), scratch / "stopped", first).finished);
  const Outcome stopped = resume(scratch / "stopped", 2, second);
  EXPECT_FALSE(stopped.finished);
  EXPECT_EQ(stopped.round, 13u);
  EXPECT_EQ(stopped.last.round, 12u);
  EXPECT_EQ(nlohmann::json::parse(stopped.summary_json)["rounds"], 13);
  EXPECT_FALSE(fs::exists(scratch / "stopped/summary.json"));
  EXPECT_FALSE(fs::exists(scratch / "stopped/models"));
  EXPECT_EQ(support::metrics_of(scratch / "stopped").size(), 4u);

  EXPECT_TRUE(resume(scratch / "stopped", 1, silent).finished);
  EXPECT_EQ(support::lasting(support::summary_of(scratch / "stopped")),
            support::lasting(support::summary_of(scratch / "unbroken")));
  EXPECT_EQ(support::metrics_of(scratch / "stopped"), support::metrics_of(scratch / "unbroken"));
  EXPECT_EQ(support::contents(scratch / "stopped/models"),
            support::contents(scratch / "unbroken/models"));
}

/// Requests a stop during a round: it takes effect right after it, before anything else.
class StopIn : public Observer {
 public:
  explicit StopIn(std::uint64_t round) : round_(round) {}
  void progressed(const train::RunView& run) override { done_ = run.round(); }
  bool stop_requested() override { return done_ + 1 == round_ && ++asked_ == 2; }

 private:
  std::uint64_t round_, done_ = 0;
  int asked_ = 0;
};

/// Rounds 12 and 26, the last, are followed by an evaluation; a stopped run leaves that to the
/// resumed one.
TEST_P(StopOf, DoesNotEvaluateFirst) {
  support::Scratch scratch;
  Observer silent;
  run(settings(), scratch / "unbroken", silent);
  StopIn first(12), second(26);
  const Outcome stopped = run(settings(), scratch / "stopped", first);
  EXPECT_FALSE(stopped.finished);
  EXPECT_EQ(stopped.round, 12u);
  EXPECT_EQ(stopped.last.round, 8u);
  EXPECT_EQ(support::metrics_of(scratch / "stopped").size(), 3u);
  EXPECT_FALSE(resume(scratch / "stopped", 1, second).finished);
  EXPECT_TRUE(resume(scratch / "stopped", 1, silent).finished);
  EXPECT_EQ(support::lasting(support::summary_of(scratch / "stopped")),
            support::lasting(support::summary_of(scratch / "unbroken")));
  EXPECT_EQ(support::metrics_of(scratch / "stopped"), support::metrics_of(scratch / "unbroken"));
  EXPECT_EQ(support::contents(scratch / "stopped/models"),
            support::contents(scratch / "unbroken/models"));
}

INSTANTIATE_TEST_SUITE_P(Registry, StopOf, ::testing::ValuesIn(algorithm::registry()),
                         support::name_of);

TEST(Stop, BeforeTheFirstRoundIsPossible) {
  support::Scratch scratch;
  Observer silent;
  StopAt at_once(0);
  const train::RunOptions config =
      support::config_of({{"data", "least-squares"}, {"rounds", "10"}});
  EXPECT_FALSE(run(config, scratch / "stopped", at_once).finished);
  resume(scratch / "stopped", 1, silent);
  run(config, scratch / "unbroken", silent);
  EXPECT_EQ(support::metrics_of(scratch / "stopped"), support::metrics_of(scratch / "unbroken"));
}

TEST(Stop, AfterTheLastRoundIsTooLate) {
  support::Scratch scratch;
  StopAt last(10);
  EXPECT_TRUE(
      run(support::config_of({{"data", "least-squares"}, {"algorithm", "dsgd"}, {"rounds", "10"}}),
          scratch / "run", last)
          .finished);
}

}  // namespace
}  // namespace hearsay::run
