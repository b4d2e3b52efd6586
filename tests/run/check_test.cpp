#include "hearsay/run/check.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/train/trainer.h"
#include "support/scratch.h"

namespace hearsay::run {
namespace {

train::RunOptions resolved(const std::string& toml) {
  train::RunOptions options;
  options.read_toml(toml, "t.toml");
  return train::resolve(options);
}

std::string why_not(const std::string& toml) { return Checks().why_not(resolved(toml)); }

/// Options that resolve accepts, and no run can begin with.
struct Refused {
  const char *name, *toml;
};

void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

class RefusedRun : public ::testing::TestWithParam<Refused> {};

/// In the words of the run's own start.
TEST_P(RefusedRun, IsRefusedWithoutModels) {
  const train::RunOptions options = resolved(GetParam().toml);
  std::string words;
  try {
    train::Trainer trainer(options);
  } catch (const std::exception& error) {
    words = error.what();
  }
  EXPECT_NE(words, "");
  EXPECT_EQ(Checks().why_not(options), words);
}

constexpr Refused kRefused[] = {
    {"Compressor", "data='consensus'\nalgorithm='dsgd'\ncompressor='topk:keep=0.5'"},
    {"UnbiasedCompressor", "data='consensus'\nalgorithm='choco'\ncompressor='qsgd:unbiased=1'"},
    {"MildCompressor", "algorithm='dcd'\nmodel='mlp'\ncompressor='topk:keep=0.01'\ngraph='ring'"},
    {"Graph", "data='consensus'\nalgorithm='dsgd'\ngraph='random:p=0.4'\nseed=3"},
    {"DirectedGraph", "data='consensus'\nalgorithm='choco'\ngraph='ring:directed'\npeers=5"},
    {"Rate", "data='consensus'\nalgorithm='dsgd'\nlr='zzz'"},
    {"Optimizer", "data='consensus'\nalgorithm='dsgd'\noptimizer='sgd:clip=-1'"},
    {"NonlinearOptimizer", "algorithm='d2'\ngraph='star'\nlr='0.1'\noptimizer='adam'"},
    {"TwoMomenta", "algorithm='qg-dmsgd'\noptimizer='momentum'"},
    {"ChangingRate", "data='consensus'\nalgorithm='extra'\nlr='cosine:0.1'"},
    {"Eta", "data='consensus'\nalgorithm='choco:eta=7'"},
    {"Robust", "data='consensus'\nalgorithm='choco'\nrobust='clip'"},
    {"Data", "data='{x}'"},
    {"NoFile", "data='csv:nowhere.csv'"},
    {"Partition", "partition='zzz'"},
    {"Model", "model='resnet:depth=21'"},
    {"Tensors", "train-only='no-such-tensor'"},
};

INSTANTIATE_TEST_SUITE_P(All, RefusedRun, ::testing::ValuesIn(kRefused),
                         [](const auto& refused) { return std::string(refused.param.name); });

TEST(ChecksTest, LetPassWhatCanBegin) {
  EXPECT_EQ(why_not(""), "");
  EXPECT_EQ(why_not("data='consensus'\nalgorithm='dsgd'"), "");
  EXPECT_EQ(why_not("algorithm='sgp'\ntiming='asynchronous'\nlink='loss=0.1'"), "");
  EXPECT_EQ(why_not("algorithm='dcd'\nmodel='mlp'\ncompressor='qsgd:bits=8,unbiased=1'\n"
                    "graph='complete'"),
            "");
}

TEST(ChecksTest, KnowWhatAsynchronousPeersNeed) {
  EXPECT_EQ(
      why_not("data='consensus'\nalgorithm='choco'\ntiming='asynchronous'\ngraph='ring'"),
      "[choco] needs rounds in lock step; of asynchronous peers use sgp, sparse-push or scsp");
  EXPECT_NE(why_not("algorithm='sgp'\ntiming='asynchronous'\nlink='kill=zzz'"), "");
  EXPECT_NE(why_not("data='consensus'\nalgorithm='dsgd'\nlink='kill=0.5'"), "");
}

/// The same answer for another seed, unless the graph is drawn by it.
TEST(ChecksTest, AreMadeOnceForRunsThatAreAlike) {
  Checks checks;
  train::RunOptions options =
      resolved("data='consensus'\nalgorithm='dsgd'\ncompressor='topk:keep=0.5'");
  const std::string why = checks.why_not(options);
  options.seed = 7;
  EXPECT_EQ(checks.why_not(options), why);
  options.compressor = "identity";
  EXPECT_EQ(checks.why_not(options), "");
}

/// Files beyond the limit are not read, but what does not depend on them is checked.
TEST(ChecksTest, DoNotReadLargeFiles) {
  const support::Scratch scratch;
  const std::filesystem::path file = scratch / "large.csv";
  support::write_text(file, "no table");
  const std::string data = "data='csv:" + file.string() + "'\nalgorithm='dsgd'\ngraph='ring'";
  EXPECT_NE(why_not(data), "");
  std::filesystem::resize_file(file, std::uintmax_t{65} << 20);  // a hole: it takes no space
  EXPECT_EQ(why_not(data), "");
  EXPECT_TRUE(
      why_not(data + "\ncompressor='topk:keep=0.5'").starts_with("[dsgd] does not compress"));
  EXPECT_EQ(why_not("data='consensus:dim=1000000000'\nalgorithm='dsgd'"), "");
}

TEST(CheckValue, RefusesSpecsThatNoRunCanHave) {
  const auto refusal = [](const char* key, const char* value) -> std::string {
    try {
      check_value(key, value);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  for (const char* key : {"graph", "algorithm", "compressor", "data", "loss", "model", "partition",
                          "augment", "optimizer", "lr", "robust", "liars", "device", "precision"}) {
    EXPECT_NE(refusal(key, "zzz"), "") << key;
  }
  EXPECT_EQ(refusal("lr", "auto"), "");
  EXPECT_EQ(refusal("partition", "own"), "");
  EXPECT_EQ(refusal("robust", "none"), "");
  EXPECT_EQ(refusal("init", "zzz"), "") << "a file";
}

}  // namespace
}  // namespace hearsay::run
