#include <gtest/gtest.h>

#include "cli/process.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

class SeveralConfigs : public ::testing::Test {
 protected:
  SeveralConfigs() {
    support::write_text(scratch_ / "good.toml", "data = 'least-squares'\nrounds = 20\n");
    support::write_text(scratch_ / "other.toml",
                        "data = 'least-squares'\nrounds = 10\nalgorithm = 'sgp'\n");
    support::write_text(scratch_ / "bad.toml",
                        "data = 'least-squares'\nrounds = 20\nlr = '1e30'\n");
  }
  Result train(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "train");
    return hearsay(arguments, scratch_.path());
  }
  support::Scratch scratch_;
};

TEST_F(SeveralConfigs, AreRunsOfTheirOwnUnderTheOptionsOfAll) {
  const Result result =
      train({"good.toml", "other.toml", "--seed", "5", "--out", "runs", "--evaluate", "5"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("good   round  0"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("other  round 10"), std::string::npos) << result.out;
  EXPECT_EQ(train({"good.toml", "--seed", "5", "--out", "alone", "--evaluate", "5"}).status, 0);
  EXPECT_EQ(support::contents(scratch_ / "runs/good/models"),
            support::contents(scratch_ / "alone/models"));
  EXPECT_EQ(support::summary_of(scratch_ / "runs/other")["seed"], 5);
}

TEST_F(SeveralConfigs, SurviveOneThatFails) {
  const Result result = train({"bad.toml", "good.toml", "--out", "runs", "--quiet"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err,
            "hearsay: bad: [train] the model of peer 0 is not finite in round 2; lower --lr or the "
            "averaging rate eta\n");
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "runs/good/summary.json"));
}

TEST_F(SeveralConfigs, GetNumbersWithoutOut) {
  EXPECT_EQ(train({"good.toml", "other.toml", "--quiet"}).status, 0);
  EXPECT_EQ(support::summary_of(scratch_ / "runs/001")["rounds"], 40) << "20, and 20 final ones";
  EXPECT_EQ(support::summary_of(scratch_ / "runs/002")["rounds"], 10);
}

TEST_F(SeveralConfigs, AreNotCompared) {
  const Result result = train({"good.toml", "other.toml", "--compare", "yes", "--out", "runs"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err,
            "hearsay: [train] good asks for compare = yes, which is for one run at a time; train "
            "it alone, or drop that\n");
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "runs"));
}

}  // namespace
}  // namespace hearsay::cli
