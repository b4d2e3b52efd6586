#include "hearsay/sweep/unfit.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/sweep/run_sweep.h"
#include "support/scratch.h"

namespace hearsay::sweep {
namespace {

namespace fs = std::filesystem;

class UnfitTest : public ::testing::Test {
 protected:
  std::string text_of(const std::string& file, const SweepOptions& options = {}) const {
    const Sweep sweep = read_sweep(file, "f.toml", options);
    const SweepRuns runs = runs_of(sweep, scratch_.path());
    return unfit_text(sweep, runs, find_unfit(sweep, runs));
  }

  support::Scratch scratch_;
};

constexpr const char* kEnd =
    "Or give them what fits: a setting of a row outranks the axes', and 'when' sets one for some "
    "combinations (docs/sweeps.md)";

/// Three methods by three compressors: two of the methods do not go with all.
constexpr const char* kMisfits = R"(
title = "t"
seeds = [1, 2]
rows = [
  {label = "dsgd", algorithm = "dsgd"},
  {label = "choco", algorithm = "choco"},
  {label = "diging", algorithm = "gradient-tracking"},
]
[base]
data = "least-squares"
graph = "ring"
rounds = 5
[[axes]]
name = "sent"
label = ["all", "1 %", "bits"]
compressor = ["identity", "topk:keep=0.01", "qsgd:bits=4"]
[[axes]]
name = "rate"
lr = [0.1, 0.2]
)";

TEST_F(UnfitTest, NamesEveryReasonOnceAndHowToDoWithoutIt) {
  const std::string text = text_of(kMisfits);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "[f.toml] 16 of 36 runs cannot work, so nothing is trained:");
  const auto holds = [&](const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  };
  holds(
      "\n  [dsgd] does not compress, and the compressor is topk:keep=0.01; drop --compressor, or "
      "use sparse-push, deep-squeeze, choco or quant-sgp\n"
      "    line 5, 4 runs: dsgd, sent 1 %, rate 0.1; dsgd, sent 1 %, rate 0.2\n");
  holds("\n  [gradient-tracking] does not compress, and the compressor is qsgd:bits=4;");
  EXPECT_TRUE(text.ends_with(std::string("\nTo train the others, leave these out in the file:\n"
                                         "  exclude = [\n"
                                         "    {row = ['dsgd', 'diging'], sent = ['1 %', 'bits']},\n"
                                         "  ]\n") +
                             kEnd))
      << text;
}

TEST_F(UnfitTest, IsEmptyOnceTheFileExcludesThem) {
  std::string text = kMisfits;
  text.insert(text.find("[base]"),
              "exclude = [\n    {row = ['dsgd', 'diging'], sent = ['1 %', 'bits']},\n  ]\n");
  EXPECT_EQ(text_of(text), "");
}

TEST_F(UnfitTest, IsAboutWhatIsToBeTrainedNow) {
  EXPECT_EQ(text_of(kMisfits, {.rows = {"choco"}}), "");
  EXPECT_TRUE(text_of(kMisfits, {.seeds = {2}, .rows = {"dsgd", "choco"}})
                  .starts_with("[f.toml] 4 of 12 runs cannot work"));
  const Sweep sweep = read_sweep(kMisfits, "f.toml", {.rows = {"dsgd"}});
  SweepRuns runs = runs_of(sweep, scratch_.path());
  for (SweepRun& run : runs.runs) {  // of a version that could train them
    fs::create_directories(run.out);
    support::write_text(run.out / "config.toml", run.config.to_toml());
  }
  EXPECT_EQ(find_unfit(sweep, runs).count, 0U);
}

/// Settings that exclude each other, and a graph that only some seeds draw.
TEST_F(UnfitTest, NamesRowsWithoutAxesAndSeeds) {
  EXPECT_EQ(
      text_of("title = 't'\nrows = [{label = 'a'},\n{label = 'b', graph = 'torus:3x5', peers "
              "= 16}]\n[base]\nalgorithm = 'dsgd'\ndata = 'consensus'\nrounds = 2\n"),
      std::string("[f.toml] 1 of 2 runs cannot work, so nothing is trained:\n"
                  "  [graph] torus:3x5 has 15 peers but --peers is 16; use torus:4x4, or drop "
                  "--peers\n    line 3, 1 run: b\n"
                  "To train the others, leave these out in the file:\n"
                  "  exclude = [\n    {row = 'b'},\n  ]\n") +
          kEnd);
  const Sweep sweep = read_sweep(
      "title = 't'\nseeds = [1, 2, 3]\n[base]\ndata = 'consensus'\n"
      "algorithm = 'dsgd'\ngraph = 'ring'\nrounds = 2\n",
      "f.toml");
  Unfit unfit;
  unfit.groups = {{"[x] y", {{0, {1, 3}}}}};
  unfit.runs = {0, 2};
  unfit.count = 2;
  EXPECT_EQ(unfit_text(sweep, runs_of(sweep, scratch_.path()), unfit),
            std::string("[f.toml] 2 of 3 runs cannot work, so nothing is trained:\n"
                        "  [x] y\n    2 runs: t, seeds 1, 3\n") +
                kEnd);
}

TEST_F(UnfitTest, CutsLongLists) {
  std::string text =
      "title = 't'\n[base]\ndata = 'consensus'\nalgorithm = 'dsgd'\nrounds = 2\n"
      "graph = 'torus:3x3'\n[[axes]]\nname = 'n'\npeers = [9";
  for (int peers = 10; peers < 40; ++peers) text += ", " + std::to_string(peers);
  text +=
      "]\n[[axes]]\nname = 'b'\nevaluate = [1, 2]\ncompressor = ['identity', 'topk:keep=0.1']\n"
      "label = ['x', 'y']\n";
  const std::string said = text_of(text);
  EXPECT_NE(said.find("    1 run: n 9, b y\n"), std::string::npos) << said;
  EXPECT_NE(said.find("\nand 11 more reasons\n"), std::string::npos) << said;
}

/// Before anything is written, and in the words of --dry-run.
TEST_F(UnfitTest, StopsASweepBeforeItBegins) {
  const Sweep sweep = read_sweep(kMisfits, "f.toml");
  SweepObserver silent;
  try {
    run_sweep(sweep, scratch_ / "out", {}, silent);
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.what(), text_of(kMisfits));
  }
  EXPECT_FALSE(fs::exists(scratch_ / "out"));
}

}  // namespace
}  // namespace hearsay::sweep
