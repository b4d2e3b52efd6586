#include <gtest/gtest.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/core/error.h"
#include "hearsay/train/config.h"
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
  const Config config = resolve(Config());
  EXPECT_EQ(config.text("graph"), "sparse-push:a");
  EXPECT_EQ(config.text("compressor"), "topk:keep=0.01,value=f16");
  EXPECT_EQ(config.text("model"), "cnn");
  EXPECT_EQ(config.text("partition"), "skew:0.8");
  EXPECT_EQ(config.text("augment"), "none");
  EXPECT_EQ(config.fraction("validation"), 0);
  EXPECT_EQ(config.text("init"), "none");
  EXPECT_EQ(config.text("optimizer"), "nesterov:beta=0.9,weight_decay=1e-4");
  EXPECT_EQ(config.text("lr"), "cosine:0.1");
  EXPECT_EQ(config.count("peers"), 4u);
  EXPECT_EQ(config.count("epochs"), 125u);
  EXPECT_EQ(config.count("rounds"), 0u);
}

TEST(Resolve, LeavesNoAutoForAnyAlgorithmOnDataOrInClosedForm) {
  for (const algorithm::Entry& entry : algorithm::registry()) {
    for (const char* data : {"digits", "least-squares", "consensus", "logistic"}) {
      const Config config =
          support::config_of({{"algorithm", std::string(entry.name)}, {"data", data}});
      for (const Option& option : options()) {
        EXPECT_NE(config.text(option.key), "auto") << entry.name << " " << option.key;
      }
      EXPECT_EQ(resolve(config).to_toml(), config.to_toml()) << entry.name;
    }
  }
}

TEST(Resolve, GivesEachMethodAGraphItCanUse) {
  EXPECT_EQ(support::config_of({{"algorithm", "sgp"}}).text("graph"), "sparse-push:a");
  EXPECT_EQ(support::config_of({{"algorithm", "sgp"}, {"peers", "5"}}).text("graph"),
            "ring:directed");
  EXPECT_EQ(support::config_of({{"algorithm", "dsgd"}}).text("graph"), "ring");
  EXPECT_EQ(support::config_of({{"algorithm", "choco"}}).text("graph"), "ring");
  EXPECT_EQ(support::config_of({{"algorithm", "psgd"}, {"peers", "7"}}).count("peers"), 7u);
}

TEST(Resolve, CompressesOnlyWhereTheMethodDoes) {
  EXPECT_EQ(support::config_of({{"algorithm", "choco"}}).text("compressor"),
            "topk:keep=0.01,value=f16");
  EXPECT_EQ(support::config_of({{"algorithm", "sgp"}}).text("compressor"), "identity");
  EXPECT_EQ(support::config_of({{"algorithm", "dcd"}}).text("compressor"), "identity");
}

TEST(Resolve, GivesNoMomentumToMethodsWithTheirOwn) {
  EXPECT_EQ(support::config_of({{"algorithm", "dmsgd"}}).text("optimizer"),
            "sgd:weight_decay=1e-4");
  EXPECT_EQ(support::config_of({{"data", "least-squares"}}).text("optimizer"), "sgd");
}

TEST(Resolve, ClosedFormProblemsCountRoundsAndHaveNoPartition) {
  const Config config = support::config_of({{"data", "least-squares:noise=1"}});
  EXPECT_EQ(config.text("model"), "none");
  EXPECT_EQ(config.text("partition"), "none");
  EXPECT_EQ(config.text("lr"), "0.05");
  EXPECT_EQ(config.count("epochs"), 0u);
  EXPECT_EQ(config.count("rounds"), 1000u);
}

TEST(Resolve, TakesTheNumberOfPeersFromTheGraph) {
  EXPECT_EQ(support::config_of({{"graph", "torus:3x5"}}).count("peers"), 15u);
  EXPECT_EQ(support::config_of({{"graph", "ring"}, {"peers", "9"}}).count("peers"), 9u);
}

TEST(Resolve, LeavesWhatWasGiven) {
  const Config config = support::config_of({{"graph", "exponential"},
                                            {"compressor", "sign"},
                                            {"partition", "iid"},
                                            {"optimizer", "sgd"},
                                            {"lr", "cosine:1"},
                                            {"rounds", "5"},
                                            {"peers", "8"}});
  EXPECT_EQ(config.text("graph"), "exponential");
  EXPECT_EQ(config.text("compressor"), "sign");
  EXPECT_EQ(config.text("partition"), "iid");
  EXPECT_EQ(config.text("optimizer"), "sgd");
  EXPECT_EQ(config.text("lr"), "cosine:1");
  EXPECT_EQ(config.count("epochs"), 0u);
  EXPECT_EQ(config.count("rounds"), 5u);
}

TEST(Resolve, GivesEachModelARateItCanBear) {
  EXPECT_EQ(support::config_of({{"model", "logistic"}}).text("lr"), "0.1");
  EXPECT_EQ(support::config_of({{"model", "resnet:depth=32"}}).text("lr"), "cosine:0.1");
  EXPECT_EQ(support::config_of({{"model", "mlp"}, {"algorithm", "extra"}}).text("lr"), "0.05")
      << "extra is made for a constant rate";
}

TEST(Resolve, ComparesOnlyWhereNothingThatChangesResultsWasGiven) {
  EXPECT_EQ(resolve(Config()).text("compare"), "yes");
  EXPECT_EQ(support::config_of({{"threads", "2"}, {"checkpoint", "9"}}).text("compare"), "yes");
  EXPECT_EQ(support::config_of({{"seed", "1"}}).text("compare"), "no");
  EXPECT_EQ(support::config_of({{"seed", "1"}, {"compare", "yes"}}).text("compare"), "yes");
  EXPECT_EQ(support::config_of({{"compare", "no"}}).text("compare"), "no");
}

TEST(Resolve, RecordsTheContentOfTheInitFile) {
  support::Scratch scratch;
  const std::string file = (scratch / "a,b=c.safetensors").string();
  support::write_text(file, "abc");
  const Config config = support::config_of({{"init", file}});
  EXPECT_EQ(config.text("init"),
            file + ",sha256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(resolve(config).text("init"), config.text("init"));
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

}  // namespace
}  // namespace hearsay::train
