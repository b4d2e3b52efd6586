#include "hearsay/run/compare.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"

#include "support/scratch.h"

namespace hearsay::run {
namespace {

namespace fs = std::filesystem;

train::RunOptions settings() {
  return support::config_of({{"data", "least-squares"},
                             {"algorithm", "scsp"},
                             {"rounds", "200"},
                             {"compare", "yes"},
                             {"threads", "1"}});
}

/// Requests a stop after so many rounds, counted over all runs it observes.
class StopAfter : public Observer {
 public:
  explicit StopAfter(int rounds) : left_(rounds) {}
  void progressed(const train::RunView&) override { --left_; }
  bool stop_requested() override { return left_ <= 0; }

 private:
  int left_;
};

TEST(Controls, DifferFromTheRunInTheirTalkOnly) {
  const train::RunOptions config = settings();
  for (const Control& control : controls(config)) {
    EXPECT_EQ(control.config.algorithm, control.name == "silence" ? "silent" : "sgp");
    EXPECT_EQ(control.config.compressor, "identity");
    EXPECT_EQ(control.config.compare, train::Compare::kNo);
    for (const train::Option& option : train::options()) {
      if (option.key == "algorithm" || option.key == "compressor" || option.key == "compare") {
        continue;
      }
      EXPECT_EQ(option.text(control.config), option.text(config)) << option.key;
    }
  }
}

TEST(Controls, FrameTheRun) {
  support::Scratch scratch;
  Observer silent;
  run(settings(), scratch / "run", silent);
  ASSERT_TRUE(wants_controls(scratch / "run"));
  const ControlsOutcome outcome = run_controls(scratch / "run", 1, silent);
  EXPECT_TRUE(outcome.finished);
  EXPECT_TRUE(outcome.warnings.empty());
  const auto alone = support::summary_of(scratch / "run/compare/silence");
  const auto full = support::summary_of(scratch / "run/compare/full");
  EXPECT_EQ(alone["bytes_total"], 0);
  EXPECT_EQ(alone["messages_total"], 0);
  EXPECT_FALSE(alone.contains("compression_factor"));
  EXPECT_GT(full["bytes_total"], support::summary_of(scratch / "run")["bytes_total"]);
  EXPECT_GT(alone["divergence"], 10 * full["divergence"].get<double>());
}

TEST(Controls, GoOnAfterAStopAndLeaveWhatIsFinished) {
  support::Scratch scratch;
  Observer silent;
  for (const char* name : {"unbroken", "stopped"}) run(settings(), scratch / name, silent);
  run_controls(scratch / "unbroken", 1, silent);
  StopAfter early(50), late(250);
  EXPECT_FALSE(run_controls(scratch / "stopped", 1, early).finished);
  EXPECT_FALSE(run_controls(scratch / "stopped", 1, late).finished);
  EXPECT_TRUE(fs::exists(scratch / "stopped/compare/silence/summary.json"));
  EXPECT_FALSE(fs::exists(scratch / "stopped/compare/full/summary.json"));
  const std::string before = support::read_text(scratch / "stopped/compare/silence/summary.json");
  EXPECT_TRUE(run_controls(scratch / "stopped", 1, silent).finished);
  EXPECT_EQ(support::read_text(scratch / "stopped/compare/silence/summary.json"), before);
  for (const char* name : {"compare/silence", "compare/full"}) {
    EXPECT_EQ(support::lasting(support::summary_of(scratch / "stopped" / name)),
              support::lasting(support::summary_of(scratch / "unbroken" / name)));
  }
}

TEST(Controls, AreNotWantedUnlessAskedFor) {
  support::Scratch scratch;
  Observer silent;
  run(support::config_of({{"data", "least-squares"}, {"rounds", "3"}}), scratch / "run", silent);
  EXPECT_FALSE(wants_controls(scratch / "run"));
}

TEST(Controls, HaveTheMomentumThatTheMethodHas) {
  const auto optimizer = [](const char* algorithm, const char* own) {
    const train::RunOptions config =
        support::config_of({{"algorithm", algorithm}, {"optimizer", own}});
    const auto both = controls(config);
    EXPECT_EQ(both[0].config.optimizer, both[1].config.optimizer);
    return both[0].config.optimizer;
  };
  EXPECT_EQ(optimizer("qg-dmsgd:beta=0.8", "auto"), "nesterov:weight_decay=1e-4,beta=0.8");
  EXPECT_EQ(optimizer("dmsgd", "sgd"), "nesterov:beta=0.9");
  EXPECT_EQ(optimizer("sgp", "sgd"), "sgd");
}

TEST(Controls, ThatFailTakeNothingFromTheOther) {
  struct Fails : Observer {
    void started(const train::RunView&, const train::RunOptions& config) override {
      if (config.algorithm == "silent") throw RunFailed("[train] it broke");
    }
  } fails;
  support::Scratch scratch;
  Observer silent;
  run(settings(), scratch / "run", silent);
  const ControlsOutcome outcome = run_controls(scratch / "run", 1, fails);
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.warnings, std::vector<std::string>{"[compare silence] [train] it broke"});
  EXPECT_FALSE(fs::exists(scratch / "run/compare/silence/summary.json"));
  EXPECT_TRUE(fs::exists(scratch / "run/compare/full/summary.json"));
}

TEST(Controls, OfOtherSettingsAreLeftAloneAndNamed) {
  support::Scratch scratch;
  Observer silent;
  run(settings(), scratch / "run", silent);
  run(support::config_of({{"data", "least-squares"}, {"rounds", "3"}}),
      scratch / "run/compare/silence", silent);
  const auto before = support::contents(scratch / "run/compare/silence");
  EXPECT_EQ(run_controls(scratch / "run", 1, silent).warnings,
            std::vector<std::string>{"[compare silence] [train] " +
                                     (scratch / "run/compare/silence").string() +
                                     " holds a run of other settings; remove it"});
  EXPECT_EQ(support::contents(scratch / "run/compare/silence"), before);
}

}  // namespace
}  // namespace hearsay::run
