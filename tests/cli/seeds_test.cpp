#include <gtest/gtest.h>

#include <cmath>

#include "cli/process.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;

class SeedsCommand : public ::testing::Test {
 protected:
  Result train(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"train", "--data", "least-squares", "--rounds", "10"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hearsay(arguments, scratch_.path());
  }
  std::string refusal(const std::vector<std::string>& more) {
    const Result result = train(more);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_EQ(result.out, "");
    return result.err;
  }
  support::Scratch scratch_;
};

TEST_F(SeedsCommand, TrainsADirectoryForEachAndTellsTheirSpread) {
  const Result result = train({"--seeds", "1,2,5", "--out", "runs/a"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("\nmean +- deviation, n = 3"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\nseed 5 "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\nrun directories: runs/a/seed-*\n"), std::string::npos);
  EXPECT_EQ(train({"--seed", "5", "--out", "alone", "--quiet"}).status, 0);
  EXPECT_EQ(support::contents(scratch_ / "runs/a/seed-5/models"),
            support::contents(scratch_ / "alone/models"));
  EXPECT_TRUE(fs::exists(scratch_ / "runs/a/report.html"));
  const auto results = nlohmann::json::parse(support::read_text(scratch_ / "runs/a/results.json"));
  const auto& group = results["runs"][0];
  EXPECT_EQ(group["seeds"], (std::vector<int>{1, 2, 5}));
  std::vector<double> distances;
  for (const char* seed : {"seed-1", "seed-2", "seed-5"}) {
    distances.push_back(
        support::summary_of(scratch_ / "runs/a" / seed)["distance_to_optimum"].get<double>());
  }
  double mean = 0, squares = 0;
  for (const double one : distances) mean += one / 3;
  for (const double one : distances) squares += (one - mean) * (one - mean);
  EXPECT_NEAR(group["mean"]["distance_to_optimum"].get<double>(), mean, 1e-12 * mean);
  EXPECT_NEAR(group["deviation"]["distance_to_optimum"].get<double>(), std::sqrt(squares / 2),
              1e-9 * mean);
}

TEST_F(SeedsCommand, GoOnWithTheSameCommand) {
  ASSERT_EQ(train({"--seeds", "1", "--out", "a", "--quiet"}).status, 0);
  const auto first = support::contents(scratch_ / "a/seed-1/models");
  fs::remove(scratch_ / "a/seed-1/report.html");
  const Result result = train({"--seeds", "1,2", "--out", "a"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out.find("seed-1  round"), std::string::npos) << "finished\n" << result.out;
  EXPECT_NE(result.out.find("seed-2  round"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("n = 2"), std::string::npos) << result.out;
  EXPECT_EQ(support::contents(scratch_ / "a/seed-1/models"), first);
  EXPECT_EQ(refusal({"--seeds", "1,3", "--out", "a", "--lr", "0.5"})
                .find("hearsay: [train] a/seed-1 holds a run of other settings: lr is "),
            0u);
  EXPECT_FALSE(fs::exists(scratch_ / "a/seed-3"));
}

TEST_F(SeedsCommand, TakeTheFirstFreeNumberWithoutOut) {
  fs::create_directories(scratch_ / "runs/001");
  EXPECT_EQ(train({"--seeds", "3", "--quiet"}).status, 0);
  EXPECT_TRUE(fs::exists(scratch_ / "runs/002/seed-3/summary.json"));
}

TEST_F(SeedsCommand, RefuseWhatIsForOneRun) {
  EXPECT_EQ(refusal({"--seeds", "1,x", "--out", "a"}),
            "hearsay: [train] --seeds must be whole numbers, as 1,2,3, got '1,x'\n");
  EXPECT_EQ(refusal({"--seeds", "1,2,", "--out", "a"}),
            "hearsay: [train] --seeds must be whole numbers, as 1,2,3, got '1,2,'\n");
  EXPECT_EQ(refusal({"--seeds", "1,-2", "--out", "a"}),
            "hearsay: [train] --seeds must be whole numbers, as 1,2,3, got '1,-2'\n");
  EXPECT_EQ(refusal({"--seeds", "2,2", "--out", "a"}),
            "hearsay: [train] --seeds names seed 2 twice\n");
  EXPECT_EQ(refusal({"--seeds", "1,2", "--seed", "3"}),
            "hearsay: [train] --seed and --seeds exclude each other; drop one\n");
  EXPECT_EQ(refusal({"--seeds", "1,2", "--resume", "a"}),
            "hearsay: [train] --resume DIR goes on with one run; for all seeds give the same "
            "--seeds and --out again\n");
  EXPECT_EQ(
      refusal({"--seeds", "1,2", "--live"}),
      "hearsay: [live] --live is for one run; watch a seed with `hearsay watch DIR/seed-1`\n");
  EXPECT_NE(refusal({"--seeds", "1,2", "--compare", "yes"}).find("asks for compare = yes"),
            std::string::npos);
  EXPECT_TRUE(fs::is_empty(scratch_.path()));
  ASSERT_EQ(train({"--out", "a", "--quiet"}).status, 0);
  EXPECT_EQ(refusal({"--seeds", "1,2", "--out", "a"}),
            "hearsay: [train] a holds a run; --seeds makes a directory for each seed: use another "
            "--out\n");
}

TEST_F(SeedsCommand, SurviveOneThatFails) {
  const Result result = train({"--seeds", "1,2", "--lr", "1e30", "--out", "a"});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("hearsay: seed-1: "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("hearsay: seed-2: "), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("seed 1 (not finished)"), std::string::npos) << result.out;
}

TEST_F(SeedsCommand, AreLoggedForTensorBoardEach) {
  EXPECT_EQ(train({"--seeds", "1,2", "--out", "a", "--quiet", "--log", "tensorboard"}).status, 0);
  for (const char* seed : {"seed-1", "seed-2"}) {
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(scratch_ / "a" / seed)) {
      files += entry.path().filename().string().starts_with("events.out.tfevents.");
    }
    EXPECT_EQ(files, 1u);
  }
}

TEST_F(SeedsCommand, AreOneRowOfAReport) {
  ASSERT_EQ(train({"--seeds", "1,2", "--out", "runs/sgp", "--algorithm", "sgp", "--quiet"}).status,
            0);
  ASSERT_EQ(train({"--out", "runs/dsgd", "--algorithm", "dsgd", "--quiet"}).status, 0);
  const Result result = hearsay({"report", "runs", "--csv", "t.csv", "--latex", "t.tex",
                                 "--markdown", "t.md", "--svg", "pictures"},
                                scratch_.path());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("\nsgp, 2 seeds "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\ndsgd "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\nsgp, 2 seeds: runs/sgp/seed-1 and 1 more\n"), std::string::npos)
      << result.out;
  EXPECT_NE(support::read_text(scratch_ / "t.csv").find("\nruns,sgp,2,1,"), std::string::npos);
  EXPECT_NE(support::read_text(scratch_ / "t.tex").find("\\toprule"), std::string::npos);
  EXPECT_NE(support::read_text(scratch_ / "t.md").find("| sgp, 2 seeds |"), std::string::npos);
  EXPECT_TRUE(fs::exists(scratch_ / "pictures/distance.svg"));
  EXPECT_TRUE(fs::exists(scratch_ / "runs/report.html"));
}

}  // namespace
}  // namespace hearsay::cli
