#include "hearsay/run/evaluation.h"

#include <gtest/gtest.h>

#include "hearsay/run/run.h"
#include "hearsay/train/safetensors.h"
#include "hearsay/train/trainer.h"
#include "support/scratch.h"

namespace hearsay::run {
namespace {

/// A short run of a network with batch norm, whose running statistics are local to a peer.
class Export : public ::testing::Test {
 protected:
  Export() { run(config_, scratch_ / "run", silent_); }

  std::filesystem::path model(const std::string& name) const {
    return scratch_ / "run/models" / (name + ".safetensors");
  }

  const train::RunOptions config_ = support::config_of({{"model", "cnn:norm=batch"},
                                                        {"validation", "0.1"},
                                                        {"lr", "cosine:0.1"},
                                                        {"rounds", "12"},
                                                        {"batch", "8"},
                                                        {"evaluate", "100"},
                                                        {"threads", "1"}});
  support::Scratch scratch_;
  Observer silent_;
};

TEST_F(Export, IsWorthWhatItsRunReported) {
  const auto summary = support::summary_of(scratch_ / "run");
  const train::RunOptions settings = settings_of_export(model("average")).value();
  EXPECT_EQ(settings.hash(), config_.hash());
  double mean = 0, validation = 0;
  for (int i = 0; i < 4; ++i) {
    const Evaluation peer = evaluate_file(model("peer-" + std::to_string(i)), settings);
    EXPECT_FALSE(peer.estimated);
    mean += peer.score.values.at(0) / 4;
    validation += peer.score.validation_values.at(0) / 4;
  }
  EXPECT_NEAR(mean, summary["accuracy_mean"], 1e-9);
  EXPECT_NEAR(validation, summary["validation_accuracy_mean"], 1e-9);
  const Evaluation average = evaluate_file(model("average"), settings);
  EXPECT_EQ(average.parameters, summary["dim"]);
  EXPECT_NEAR(average.score.values.at(0), summary["accuracy_of_average"], 1e-9);
  EXPECT_NEAR(average.score.loss, summary["loss_of_average"], 1e-6);
}

TEST_F(Export, HoldsTheRunningStatisticsAndSeedsThemInTheNextRun) {
  train::RunOptions next = config_;
  next.init = model("peer-2").string();
  const train::Trainer trainer(train::resolve(next));
  const train::SavedModel saved = train::read_safetensors(model("peer-2"), trainer.layout(),
                                                          trainer.objective().buffer_layout());
  ASSERT_GT(saved.buffers.size(), 0u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(trainer.model(i), saved.parameters);
    EXPECT_EQ(trainer.objective().buffers(i), saved.buffers);
  }
}

TEST_F(Export, WithoutStatisticsIsEvaluatedWithEstimatedOnes) {
  const train::Trainer trainer(config_);
  const Layout& layout = trainer.layout();
  const train::SavedModel saved =
      train::read_safetensors(model("average"), layout, trainer.objective().buffer_layout());
  train::write_safetensors(scratch_ / "bare.safetensors", layout, saved.parameters);
  const Evaluation bare = evaluate_file(scratch_ / "bare.safetensors", config_);
  EXPECT_TRUE(bare.estimated);
  // Statistics of other samples of the same kind: nearly the same score.
  const double average = evaluate_file(model("average"), config_).score.values.at(0);
  EXPECT_NEAR(bare.score.values.at(0), average, 1);

  train::RunOptions next = config_;
  next.init = (scratch_ / "bare.safetensors").string();
  const train::Trainer started(train::resolve(next));
  EXPECT_EQ(started.objective().buffers(2), started.objective().estimate_buffers(saved.parameters));
}

TEST_F(Export, OfAStoppedRunIsThatOfAnUnbrokenOne) {
  struct StopAt7 : Observer {
    std::uint64_t done = 0;
    void progressed(const train::RunView& run) override { done = run.round(); }
    bool stop_requested() override { return done == 7; }
  } observer;
  EXPECT_FALSE(run(config_, scratch_ / "stopped", observer).finished);
  EXPECT_TRUE(resume(scratch_ / "stopped", 2, silent_).finished);
  EXPECT_EQ(support::contents(scratch_ / "stopped/models"),
            support::contents(scratch_ / "run/models"));
  EXPECT_EQ(support::metrics_of(scratch_ / "stopped"), support::metrics_of(scratch_ / "run"));
}

}  // namespace
}  // namespace hearsay::run
