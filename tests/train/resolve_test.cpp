#include <gtest/gtest.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/core/error.h"
#include "hearsay/train/run_options.h"
#include "hearsay/train/trainer.h"
#include "support/scratch.h"

namespace hearsay::train {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

std::string message_of(const Settings& settings) {
  try {
    support::config_of(settings);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Resolve, TheDefaultIsTheSparsePushPapersRing) {
  const RunOptions config = resolve(RunOptions());
  EXPECT_EQ(config.graph, "sparse-push:a");
  EXPECT_EQ(config.compressor, "topk:keep=0.01,value=f16");
  EXPECT_EQ(config.model, "cnn");
  EXPECT_EQ(config.partition, "skew:0.8");
  EXPECT_EQ(config.augment, "none");
  EXPECT_EQ(config.validation, 0);
  EXPECT_EQ(config.init, "none");
  EXPECT_EQ(config.optimizer, "nesterov:beta=0.9,weight_decay=1e-4");
  EXPECT_EQ(config.lr, "cosine:0.1");
  EXPECT_EQ(config.peers, 4u);
  EXPECT_EQ(config.epochs, 125u);
  EXPECT_EQ(config.rounds, 0u);
}

TEST(Resolve, LeavesNoAutoForAnyAlgorithmOnDataOrInClosedForm) {
  for (const algorithm::Entry& entry : algorithm::registry()) {
    for (const char* data : {"digits", "least-squares", "consensus", "logistic"}) {
      const RunOptions config =
          support::config_of({{"algorithm", std::string(entry.name)}, {"data", data}});
      for (const Option& option : options()) {
        EXPECT_NE(option.text(config), "auto") << entry.name << " " << option.key;
      }
      EXPECT_EQ(resolve(config).to_toml(), config.to_toml()) << entry.name;
    }
  }
}

TEST(Resolve, PrecisionIsThatOfTheDevice) {
  EXPECT_EQ(support::config_of({}).precision, "fp32");
  EXPECT_EQ(support::config_of({{"device", "cuda:precision=bf16"}}).precision, "bf16");
  EXPECT_EQ(support::config_of({{"precision", "fp32"}}).device, "cpu");
  EXPECT_EQ(support::config_of({{"precision", "fp32"}}).hash(), support::config_of({}).hash());
  const RunOptions bytes = support::config_of({{"precision", "int8"}});
  EXPECT_EQ(bytes.device, "cpu:precision=int8");
  EXPECT_EQ(bytes.hash(), support::config_of({{"device", bytes.device}}).hash());
  EXPECT_NE(bytes.hash(), support::config_of({}).hash());
  EXPECT_EQ(bytes.compare, Compare::kNo);
  EXPECT_EQ(support::config_of({{"precision", "bf16"}, {"device", "cuda:index=2"}}).device,
            "cuda:precision=bf16,index=2");
  EXPECT_EQ(support::config_of({{"precision", "int8"}, {"device", "cuda"}}).device,
            "cuda:precision=int8");
  EXPECT_EQ(support::config_of({{"data", "consensus"}}).precision, "none");
}

TEST(Resolve, RefusesPrecisionsThatADeviceDoesNotHave) {
  EXPECT_EQ(message_of({{"precision", "bf16"}}),
            "[cpu] precision must be one of fp32, int8, got bf16");
  EXPECT_EQ(message_of({{"device", "cuda:precision=int9"}}),
            "[cuda] precision must be one of tf32, fp32, bf16, int8, got int9");
  EXPECT_EQ(message_of({{"precision", "fp32"}, {"device", "cpu:precision=int8"}}),
            "[precision] precision is fp32, and that of the device, cpu:precision=int8, is int8; "
            "give one of them");
  EXPECT_EQ(message_of({{"precision", "int8"}, {"data", "consensus"}}),
            "[consensus] consensus makes its own data and takes no precision; drop --precision");
}

TEST(Resolve, GivesEachMethodAGraphItCanUse) {
  EXPECT_EQ(support::config_of({{"algorithm", "sgp"}}).graph, "sparse-push:a");
  EXPECT_EQ(support::config_of({{"algorithm", "sgp"}, {"peers", "5"}}).graph, "ring:directed");
  EXPECT_EQ(support::config_of({{"algorithm", "dsgd"}}).graph, "ring");
  EXPECT_EQ(support::config_of({{"algorithm", "choco"}}).graph, "ring");
  EXPECT_EQ(support::config_of({{"algorithm", "psgd"}, {"peers", "7"}}).peers, 7u);
}

TEST(Resolve, CompressesOnlyWhereTheMethodDoes) {
  EXPECT_EQ(support::config_of({{"algorithm", "choco"}}).compressor, "topk:keep=0.01,value=f16");
  EXPECT_EQ(support::config_of({{"algorithm", "sgp"}}).compressor, "identity");
  EXPECT_EQ(support::config_of({{"algorithm", "dcd"}}).compressor, "identity");
}

TEST(Resolve, GivesNoMomentumToMethodsWithTheirOwn) {
  EXPECT_EQ(support::config_of({{"algorithm", "dmsgd"}}).optimizer, "sgd:weight_decay=1e-4");
  EXPECT_EQ(support::config_of({{"data", "least-squares"}}).optimizer, "sgd");
}

TEST(Resolve, ARegressionHasItsOwnLossAndRate) {
  const RunOptions config = support::config_of({{"data", "synthetic"}, {"task", "regression"}});
  EXPECT_EQ(config.loss, "mse");
  EXPECT_EQ(config.lr, "cosine:0.01");
  EXPECT_EQ(support::config_of({}).task, "classification");
  EXPECT_EQ(support::config_of({}).loss, "cross-entropy");
  EXPECT_EQ(message_of({{"task", "ranking"}}),
            "[task] must be classification or regression, got 'ranking'");
  EXPECT_EQ(message_of({{"loss", "mse"}}),
            "[loss] mse is for --task regression; this run's is classification, use --loss "
            "cross-entropy");
  EXPECT_EQ(
      message_of({{"data", "synthetic"}, {"task", "regression"}, {"loss", "hubert"}}),
      "[loss] no loss is named 'hubert' (did you mean 'huber'?); there are cross-entropy, mse, "
      "huber");
  EXPECT_EQ(message_of({{"data", "least-squares"}, {"task", "regression"}}),
            "[least-squares] least-squares makes its own data and takes no task; drop --task");
}

TEST(Resolve, ClosedFormProblemsCountRoundsAndHaveNoPartition) {
  const RunOptions config = support::config_of({{"data", "least-squares:noise=1"}});
  EXPECT_EQ(config.model, "none");
  EXPECT_EQ(config.partition, "none");
  EXPECT_EQ(config.lr, "0.05");
  EXPECT_EQ(config.epochs, 0u);
  EXPECT_EQ(config.rounds, 1000u);
}

TEST(Resolve, TakesTheNumberOfPeersFromTheGraph) {
  EXPECT_EQ(support::config_of({{"graph", "torus:3x5"}}).peers, 15u);
  EXPECT_EQ(support::config_of({{"graph", "ring"}, {"peers", "9"}}).peers, 9u);
}

TEST(Resolve, LeavesWhatWasGiven) {
  const RunOptions config = support::config_of({{"graph", "exponential"},
                                                {"compressor", "sign"},
                                                {"partition", "iid"},
                                                {"optimizer", "sgd"},
                                                {"lr", "cosine:1"},
                                                {"rounds", "5"},
                                                {"peers", "8"}});
  EXPECT_EQ(config.graph, "exponential");
  EXPECT_EQ(config.compressor, "sign");
  EXPECT_EQ(config.partition, "iid");
  EXPECT_EQ(config.optimizer, "sgd");
  EXPECT_EQ(config.lr, "cosine:1");
  EXPECT_EQ(config.epochs, 0u);
  EXPECT_EQ(config.rounds, 5u);
}

TEST(Resolve, NamesTheNormUnambiguously) {
  const auto resolved = [](const char* norm) {
    return support::config_of({{"model", std::string("resnet20:norm=") + norm}}).model;
  };
  EXPECT_EQ(resolved("range-evonorm"), "resnet20:norm=range-evonorm-hard");
  EXPECT_EQ(resolved("range-evonorm-sigmoid"), "resnet20:norm=range-evonorm-sigmoid");
}

TEST(Resolve, GivesEachModelARateItCanBear) {
  EXPECT_EQ(support::config_of({{"model", "logistic"}}).lr, "0.1");
  EXPECT_EQ(support::config_of({{"model", "resnet:depth=32"}}).lr, "cosine:0.03,warmup=10%");
  EXPECT_EQ(support::config_of({{"model", "mlp"}, {"algorithm", "extra"}}).lr, "0.05")
      << "extra is made for a constant rate";
}

TEST(Resolve, ComparesOnlyWhereAllThatChangesResultsIsAtItsDefault) {
  EXPECT_EQ(resolve(RunOptions()).compare, Compare::kYes);
  EXPECT_EQ(support::config_of({{"threads", "2"}, {"checkpoint", "9"}}).compare, Compare::kYes);
  EXPECT_EQ(resolve({.seed = 2}).compare, Compare::kNo);
  EXPECT_EQ(resolve({.seed = 2, .compare = Compare::kYes}).compare, Compare::kYes);
  EXPECT_EQ(support::config_of({{"compare", "no"}}).compare, Compare::kNo);
}

TEST(Resolve, RecordsTheContentOfTheInitFile) {
  support::Scratch scratch;
  const std::string file = (scratch / "a,b=c.safetensors").string();
  support::write_text(file, "abc");
  const RunOptions config = support::config_of({{"init", file}});
  EXPECT_EQ(config.init,
            file + ",sha256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(resolve(config).init, config.init);
  support::write_text(file, "abd");
  EXPECT_NE(support::config_of({{"init", file}}).hash(), config.hash());
}

TEST(Resolve, RefusesSettingsThatExcludeEachOther) {
  EXPECT_EQ(message_of({{"epochs", "2"}, {"rounds", "3"}}),
            "[config] epochs and rounds are both given; give one of them");
  EXPECT_EQ(message_of({{"data", "least-squares"}, {"partition", "iid"}}),
            "[least-squares] least-squares makes its own data and takes no partition; drop "
            "--partition");
  EXPECT_EQ(message_of({{"data", "consensus:dim=3"}, {"model", "logistic"}}),
            "[consensus:dim=3] consensus makes its own data and takes no model; drop --model");
  EXPECT_TRUE(message_of({{"model", "resnet21"}})
                  .starts_with("[model] no model is named 'resnet21' (did you mean 'resnet20'?); "
                               "there are logistic, "));
  EXPECT_TRUE(message_of({{"augment", "flip-crop"}})
                  .starts_with("[augmentation] no augmentation is named 'flip-crop'; there are "
                               "none, crop-flip, "));
  EXPECT_EQ(message_of({{"data", "logistic"}, {"validation", "0.1"}}),
            "[logistic] logistic makes its own data and takes no validation; drop --validation");
  EXPECT_EQ(message_of({{"init", "nowhere.safetensors"}}),
            "[init] there is no file 'nowhere.safetensors'; give a safetensors file, or none");
  EXPECT_EQ(message_of({{"compare", "perhaps"}}),
            "[config] compare must be yes or no, got 'perhaps'");
  EXPECT_EQ(message_of({{"batch", "0"}}), "[config] batch must be at least 1 for a dataset, got 0");
}

TEST(Resolve, ChecksWhatACallerFilledIn) {
  const auto message = [](const RunOptions& options) -> std::string {
    try {
      resolve(options);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message({.validation = -1}),
            "[config] validation must be a number in [0, 1), got '-1'");
  EXPECT_EQ(message({.threads = 1025}),
            "[config] threads must be a whole number from 0 to 1024, got '1025'");
}

/// What a C++ program writes: the fields that matter to it, in the order of the struct.
TEST(Resolve, MakesARunOfWhatACallerFilledIn) {
  const RunOptions options = resolve(
      {.peers = 8, .algorithm = "sgp", .data = "least-squares", .rounds = 30, .threads = 1});
  EXPECT_EQ(options, support::config_of({{"peers", "8"},
                                         {"algorithm", "sgp"},
                                         {"data", "least-squares"},
                                         {"rounds", "30"},
                                         {"threads", "1"}}));
  Trainer trainer(options);
  const double before = trainer.evaluate().loss;
  while (trainer.round() < trainer.total_rounds()) trainer.run_round(false);
  EXPECT_EQ(trainer.peers(), 8u);
  EXPECT_EQ(trainer.round(), 30u);
  EXPECT_LT(trainer.evaluate().loss, before / 2);
}

}  // namespace
}  // namespace hearsay::train
