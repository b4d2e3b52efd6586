/// Runs with --precision int8.
#include <gtest/gtest.h>

#include "hearsay/backend/cpu/int8/product.h"
#include "hearsay/core/error.h"
#include "hearsay/run/run.h"
#include "hearsay/train/trainer.h"
#include "support/scratch.h"

namespace hearsay::run {
namespace {

/// A short run on batches that chunks do not divide.
train::RunOptions short_run(const std::string& precision) {
  return support::config_of({{"data", "digits"},
                             {"model", "cnn:norm=range-evonorm"},
                             {"precision", precision},
                             {"batch", "11"},
                             {"rounds", "12"},
                             {"evaluate", "4"},
                             {"checkpoint", "5"},
                             {"threads", "1"}});
}

class Int8Training : public ::testing::Test {
 protected:
  void expect_the_run(const std::string& name) {
    EXPECT_EQ(support::contents(scratch_ / name / "models"),
              support::contents(scratch_ / "run/models"));
    EXPECT_EQ(support::metrics_of(scratch_ / name), support::metrics_of(scratch_ / "run"));
  }

  support::Scratch scratch_;
  Observer silent_;
};

TEST_F(Int8Training, HasTheSameBitsWithThreadsAfterAStopAndOnAnyInstructionSet) {
  train::RunOptions config = short_run("int8");
  run(config, scratch_ / "run", silent_);
  const auto summary = support::summary_of(scratch_ / "run");
  EXPECT_EQ(summary["precision"], "int8");

  config.threads = 3;
  run(config, scratch_ / "threads", silent_);
  expect_the_run("threads");

  struct StopAt7 : Observer {
    std::uint64_t done = 0;
    void progressed(const train::RunView& run) override { done = run.round(); }
    bool stop_requested() override { return done == 7; }
  } stopper;
  EXPECT_FALSE(run(config, scratch_ / "stopped", stopper).finished);
  EXPECT_TRUE(resume(scratch_ / "stopped", 2, silent_).finished);
  expect_the_run("stopped");

  for (const std::string_view set : backend::cpu::byte_product_sets()) {
    if (!backend::cpu::has_byte_product_set(set)) continue;  // Int8OnASet names those
    backend::cpu::use_byte_product_set(set);
    run(config, scratch_ / set, silent_);
    EXPECT_TRUE(std::string(support::summary_of(scratch_ / set)["isa"]).ends_with(set));
    expect_the_run(std::string(set));
  }
  backend::cpu::use_byte_product_set("");

  // The control: single precision has other bits.
  run(short_run("fp32"), scratch_ / "floats", silent_);
  EXPECT_NE(support::contents(scratch_ / "floats/models"),
            support::contents(scratch_ / "run/models"));
}

TEST_F(Int8Training, AModelThatBytesCannotTrainIsRefusedBeforeTheFirstRound) {
  for (const char* norm : {"batch", "group", "evonorm", "range-evonorm-sigmoid"}) {
    train::RunOptions config = short_run("int8");
    config.model = std::string("cnn:norm=") + norm;
    try {
      train::Trainer trainer(config);
      ADD_FAILURE() << norm << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("norm=range-evonorm"), std::string::npos)
          << error.what();
    }
  }
}

/// Of the default run, whose accuracies differ by 0.6 points between seeds.
TEST_F(Int8Training, LearnsTheDigitsAsFloatsDo) {
  const auto accuracy = [](const std::string& precision) {
    train::Trainer trainer(support::config_of({{"precision", precision}, {"rounds", "600"}}));
    while (trainer.round() < trainer.total_rounds()) trainer.run_round(false);
    return *trainer.evaluate().find("accuracy")->mean;
  };
  EXPECT_NEAR(accuracy("int8"), accuracy("fp32"), 1);
}

}  // namespace
}  // namespace hearsay::run
