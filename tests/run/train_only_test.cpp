#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hearsay/run/evaluation.h"
#include "hearsay/run/run.h"
#include "hearsay/train/safetensors.h"
#include "hearsay/train/trainer.h"
#include "support/scratch.h"

namespace hearsay::run {
namespace {

using support::Scratch;
using Settings = std::vector<std::pair<std::string, std::string>>;

/// A small network of which the last layer is trained.
train::RunOptions last_layer(Settings more = {}) {
  more.insert(more.end(), {{"model", "cnn"}, {"rounds", "40"}, {"train-only", "linear.*"}});
  return support::config_of(more);
}

std::vector<float> exported(const std::filesystem::path& run, const Layout& layout) {
  return train::read_safetensors(run / "models/peer-1.safetensors", layout).parameters;
}

TEST(TrainOnlyRun, KeepsTheOtherTensorsAndDoesNotSendThem) {
  Scratch scratch;
  Observer silent;
  const train::RunOptions config = last_layer({{"compressor", "identity"}, {"algorithm", "sgp"}});
  const Outcome outcome = run(config, scratch / "a", silent);
  train::Trainer untrained(support::config_of({{"model", "cnn"}}));
  const Layout& layout = untrained.objective().layout();
  const std::vector<float> before = untrained.model(0), after = exported(scratch / "a", layout);
  std::size_t trained = 0;
  for (const Segment& segment : layout.segments()) {
    const bool is_trained = segment.name.starts_with("linear.");
    const bool same =
        std::equal(before.begin() + segment.offset, before.begin() + segment.offset + segment.size,
                   after.begin() + segment.offset);
    EXPECT_EQ(same, !is_trained) << segment.name;
    if (is_trained) trained += segment.size;
  }
  const auto summary = nlohmann::json::parse(outcome.summary_json);
  EXPECT_EQ(summary["dim"], trained);
  EXPECT_EQ(summary["bytes_per_edge_round"], 4 * trained + 24);
  // The exported model is the evaluated one.
  const Evaluation evaluation = evaluate_file(scratch / "a" / "models/peer-1.safetensors", config);
  EXPECT_NEAR(evaluation.score.values[0], outcome.last.find("accuracy")->by_peer[1], 1e-9);
}

TEST(TrainOnlyRun, FineTunesAFileAndGoesOnWithIt) {
  Scratch scratch;
  Observer silent;
  run(support::config_of({{"model", "cnn"}, {"rounds", "60"}}), scratch / "whole", silent);
  const auto file = scratch / "whole" / "models/average.safetensors";
  const train::RunOptions config = last_layer({{"init", file.string()}, {"checkpoint", "10"}});
  const Outcome unbroken = run(config, scratch / "unbroken", silent);

  struct StopAt20 : Observer {
    void progressed(const train::RunView& run) override { stop = run.round() == 20; }
    bool stop_requested() override { return stop; }
    bool stop = false;
  } stop;
  EXPECT_FALSE(run(config, scratch / "stopped", stop).finished);
  const Outcome resumed = resume(scratch / "stopped", 1, silent);
  const auto sha = [](const Outcome& outcome) {
    return nlohmann::json::parse(outcome.summary_json)["models_sha256"];
  };
  EXPECT_EQ(sha(resumed), sha(unbroken));

  train::Trainer whole(support::config_of({{"model", "cnn"}}));
  const Layout& layout = whole.objective().layout();
  const std::vector<float> start = train::read_safetensors(file, layout).parameters;
  const std::size_t frozen = layout.segments().front().size;  // of the first layer's weights
  for (const char* name : {"unbroken", "stopped"}) {
    const std::vector<float> after = exported(scratch / name, layout);
    EXPECT_TRUE(std::equal(start.begin(), start.begin() + frozen, after.begin())) << name;
  }
}

TEST(TrainOnlyRun, WorksForAsynchronousPeers) {
  Scratch scratch;
  Observer silent;
  const train::RunOptions config =
      last_layer({{"timing", "asynchronous"}, {"link", "loss=0.1,kill=1@0.3,back=0.6"}});
  EXPECT_TRUE(run(config, scratch / "a", silent).finished);
  train::Trainer untrained(support::config_of({{"model", "cnn"}}));
  const Layout& layout = untrained.objective().layout();
  const std::vector<float> before = untrained.model(0), after = exported(scratch / "a", layout);
  const std::size_t frozen = layout.segments().front().size;
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + frozen, after.begin()));
  EXPECT_NE(before, after);
}

}  // namespace
}  // namespace hearsay::run
