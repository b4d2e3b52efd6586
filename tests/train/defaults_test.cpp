#include "hearsay/train/defaults.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/train/trainer.h"
#include "support/scratch.h"

namespace hearsay::train {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

TEST(DefaultRate, FollowsModelDataBatchAndMethod) {
  const auto rate = [](const Settings& settings) { return support::config_of(settings).lr; };
  const std::string mine = "synthetic:shape=3x32x32";
  EXPECT_EQ(rate({}), "cosine:0.1") << "digits bear it";
  for (const char* model : {"mlp", "cnn", "lenet5", "vgg11"}) {
    EXPECT_EQ(rate({{"data", mine}, {"model", model}}), "cosine:0.01") << model;
  }
  for (const char* model : {"cnn:norm=group", "vgg11:norm=batch", "resnet20", "resnet18",
                            "resnet:depth=32,norm=range-evonorm"}) {
    EXPECT_EQ(rate({{"data", mine}, {"model", model}}), "cosine:0.03,warmup=10%") << model;
  }
  EXPECT_EQ(rate({{"model", "resnet20:norm=none"}, {"data", mine}}), "cosine:0.01");
  EXPECT_EQ(rate({{"data", mine}, {"model", "logistic"}}), "0.1");
  EXPECT_EQ(rate({{"data", mine}, {"model", "resnet20"}, {"task", "regression"}}), "cosine:0.01");
  EXPECT_EQ(rate({{"data", mine}, {"task", "regression"}, {"model", "linear"}}), "cosine:0.01");
  EXPECT_EQ(rate({{"data", mine}, {"algorithm", "extra"}}), "0.005");
  EXPECT_EQ(rate({{"model", "resnet20"}, {"algorithm", "extra"}}), "0.015");
}

TEST(DefaultRate, IsNotRaisedForLargeBatchesAndLoweredForSmallOnes) {
  const auto rate = [](const char* batch) { return support::config_of({{"batch", batch}}).lr; };
  EXPECT_EQ(rate("32"), "cosine:0.1");
  EXPECT_EQ(rate("256"), "cosine:0.1");
  EXPECT_EQ(rate("8"), "cosine:0.025");
  EXPECT_EQ(support::config_of({{"batch", "8"}, {"model", "logistic"}}).lr, "0.025");
}

/// 96 samples of four peers are 24 a peer, which is one round of an epoch.
TEST(DefaultEpochs, FewSamplesHaveEnoughRounds) {
  const auto epochs = [](const Settings& settings) { return support::config_of(settings).epochs; };
  EXPECT_EQ(epochs({{"data", "synthetic:samples=96"}}), kLeastRounds);
  EXPECT_EQ(epochs({{"data", "synthetic:samples=96"}, {"batch", "8"}}), (kLeastRounds + 2) / 3);
  EXPECT_EQ(epochs({{"data", "synthetic:samples=96"}, {"peers", "2"}}), kLeastRounds / 2);
  EXPECT_EQ(epochs({{"data", "synthetic:samples=100000"}}), 30u);
  EXPECT_EQ(epochs({{"data", "synthetic:samples=96"}, {"epochs", "7"}}), 7u);
  EXPECT_EQ(epochs({{"data", "synthetic:samples=96"}, {"rounds", "7"}}), 0u);
  EXPECT_EQ(epochs({}), 125u);
  EXPECT_EQ(epochs({{"peers", "64"}}), 125u) << "that of the digits, as ever";
  EXPECT_EQ(epochs({{"data", "csv:there/is/none.csv"}}), 30u) << "who reads it says what is wrong";
}

TEST(DefaultEpochs, AreThoseThatTheTrainerCounts) {
  support::Scratch scratch;
  std::string text = "a,b,label\n";
  for (int i = 0; i < 120; ++i) text += i % 2 == 0 ? "1,2,x\n" : "2,1,y\r\n\n";
  support::write_text(scratch / "mine.csv", text);
  const Trainer trainer(
      support::config_of({{"data", "csv:" + (scratch / "mine.csv").string()}, {"threads", "1"}}));
  EXPECT_EQ(trainer.rounds_per_epoch(), 1u);
  EXPECT_EQ(trainer.training_rounds(), kLeastRounds);
}

/// Both ended at chance when networks of every kind had the rate 0.1; docs/defaults.md has the
/// whole table.
TEST(Defaults, TrainNetworksWithAndWithoutNorms) {
  const auto accuracy = [](const char* model, const char* data, const char* rounds) {
    Trainer trainer(support::config_of(
        {{"model", model}, {"data", data}, {"rounds", rounds}, {"threads", "1"}}));
    while (trainer.round() < trainer.total_rounds()) trainer.run_round(false);
    return trainer.evaluate().find("accuracy")->mean.value();
  };
  EXPECT_GT(accuracy("lenet5", "synthetic:shape=3x16x16,samples=400,noise=2", "500"), 50);
  EXPECT_GT(accuracy("cnn:norm=evonorm", "synthetic:shape=1x16x16,samples=400,noise=0.5,classes=4",
                     "200"),
            90);
}

}  // namespace
}  // namespace hearsay::train
