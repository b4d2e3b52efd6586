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
  EXPECT_EQ(
      result.err,
      "hearsay: bad: [train] the model of peer 0 is not finite in round 2; try --lr 1e+29, or "
      "--compressor topk:keep=0.1\n");
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "runs/good/summary.json"));
}

TEST_F(SeveralConfigs, GetNumbersWithoutOut) {
  const Result result = train({"good.toml", "other.toml", "--quiet"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "runs/001\nruns/002\n");
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

/// compare = auto stands for yes only if nothing that changes results is given, not even a default.
/// Files without settings show which it is before anything is trained.
TEST_F(SeveralConfigs, AreToBeComparedOnlyWhereNothingIsGiven) {
  for (const char* name : {"a.toml", "b.toml"}) support::write_text(scratch_ / name, "");
  std::filesystem::create_directories(scratch_ / "runs/a");
  support::write_text(scratch_ / "runs/a/config.toml", "");
  const std::string compared = "hearsay: [train] a asks for compare = yes,";
  const std::string taken = "hearsay: [train] runs/a already holds a run;";
  const auto error = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"a.toml", "b.toml", "--out", "runs"});
    return train(std::move(more)).err;
  };
  EXPECT_TRUE(error({}).starts_with(compared)) << error({});
  EXPECT_TRUE(error({"--threads", "1"}).starts_with(compared)) << error({"--threads", "1"});
  EXPECT_TRUE(error({"--seed", "1"}).starts_with(taken)) << error({"--seed", "1"});
  for (const char* name : {"a.toml", "b.toml"}) support::write_text(scratch_ / name, "seed = 1\n");
  EXPECT_TRUE(error({}).starts_with(taken)) << error({});
  EXPECT_TRUE(error({"--compare", "yes"}).starts_with(compared));
}

}  // namespace
}  // namespace hearsay::cli
