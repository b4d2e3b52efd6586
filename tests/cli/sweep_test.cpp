#include <gtest/gtest.h>

#include "cli/process.h"
#include "cli/screen.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = R"(
title = "Rates"
source = "nobody"
seeds = [1, 2]
figures = [{name = "loss", key = "loss", digits = 4}]
rows = [{label = "small", lr = 0.01, paper = {loss = 1.0}}, {label = "large", lr = 0.05}]
[base]
data = "least-squares:dim=4"
rounds = 30
evaluate = 10
[quick]
note = "A short one."
seeds = [1]
[quick.base]
rounds = 4
)";

class SweepCommand : public ::testing::Test {
 protected:
  SweepCommand() { support::write_text(scratch_ / "rates.toml", kFile); }

  Result sweep(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "sweep");
    return hearsay(arguments, scratch_.path());
  }
  /// The run directories of a folder, by name.
  std::vector<fs::path> runs(const char* folder) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(scratch_ / folder)) {
      if (entry.is_directory()) found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
  }

  support::Scratch scratch_;
};

std::string lines_from(const std::string& text, std::string_view begin) {
  const std::size_t at = text.find(begin);
  return at == std::string::npos ? "" : text.substr(at);
}

TEST_F(SweepCommand, TrainsAllRowsAndEndsWithATable) {
  const Result result = sweep({"rates.toml"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("begins:  small, seed 1\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("   4 of 4: large, seed 2 ("), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(result.out.find('\r'), std::string::npos);
  const std::string table = lines_from(result.out, "Rates\nnobody\n\n");
  EXPECT_NE(table.find("loss  paper  difference  seeds\n"), std::string::npos) << result.out;
  EXPECT_TRUE(table.ends_with("\n\npage: runs/rates/rates.html\n")) << result.out;
  EXPECT_NE(support::read_text(scratch_ / "runs/rates/rates.html").find("large"),
            std::string::npos);
  EXPECT_EQ(runs("runs/rates").size(), 4U);
  // A run is identical to that of `hearsay train`.
  ASSERT_EQ(hearsay({"train", "--data", "least-squares:dim=4", "--rounds", "30", "--evaluate", "10",
                     "--lr", "0.05", "--seed", "2", "--out", "alone", "--quiet"},
                    scratch_.path())
                .status,
            0);
  const fs::path same = runs("runs/rates").at(1);
  EXPECT_TRUE(same.filename().string().starts_with("large-s2-")) << same;
  EXPECT_EQ(support::lasting(support::summary_of(same)),
            support::lasting(support::summary_of(scratch_ / "alone")));
}

TEST_F(SweepCommand, SkipsWhatIsFinished) {
  const Result first = sweep({"rates.toml", "--jobs", "3"});
  ASSERT_EQ(first.status, 0) << first.err;
  const auto before = support::contents(scratch_ / "runs/rates");
  std::vector<fs::file_time_type> times;
  for (const fs::path& run : runs("runs/rates")) times.push_back(fs::last_write_time(run));
  const Result second = sweep({"rates.toml"});
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(second.out.find("begins"), std::string::npos) << second.out;
  EXPECT_EQ(lines_from(second.out, "Rates\n"), lines_from(first.out, "Rates\n"));
  EXPECT_EQ(support::contents(scratch_ / "runs/rates"), before);
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(fs::last_write_time(runs("runs/rates")[i]), times[i]);
  }
  // Changing a row does not affect the others.
  std::string changed = kFile;
  changed.replace(changed.find("0.05"), 4, "0.04");
  support::write_text(scratch_ / "rates.toml", changed);
  const Result third = sweep({"rates.toml"});
  EXPECT_EQ(third.status, 0) << third.err;
  EXPECT_EQ(third.out.find("begins:  small"), std::string::npos) << third.out;
  EXPECT_EQ(runs("runs/rates").size(), 6U);
}

TEST_F(SweepCommand, QuickIsASweepOfItsOwn) {
  const Result result = sweep({"./rates.toml", "--quick", "--quiet", "--markdown"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with(
      "### Rates\n\nnobody\n\nQuick profile: trains least-squares:dim=4. A short one.\n\n| "))
      << result.out;
  EXPECT_EQ(runs("runs/rates-quick").size(), 2U);
  EXPECT_TRUE(fs::exists(scratch_ / "runs/rates-quick/rates-quick.sweep.json"));
}

TEST_F(SweepCommand, OnATerminalDrawsATableInPlace) {
  constexpr int kWidth = 60;
  const TerminalResult result =
      hearsay_on_terminal({"sweep", "rates.toml", "--jobs", "1"}, scratch_.path(), kWidth, 20);
  ASSERT_EQ(result.status, 0) << result.said;
  EXPECT_NE(result.said.find("] 0 of 4 runs done"), std::string::npos) << result.said;
  EXPECT_NE(result.said.find("] 1 of 4 runs done"), std::string::npos) << result.said;
  EXPECT_NE(result.said.find("%  small, seed 1, "), std::string::npos) << result.said;
  Screen screen(kWidth);
  screen.write(result.said.substr(0, result.said.find("Rates")));
  EXPECT_EQ(screen.unknown(), "");
  EXPECT_FALSE(screen.wrapped()) << screen.text();
  EXPECT_GT(screen.redraws(), 0U);
  EXPECT_EQ(screen.text().find("runs done"), std::string::npos) << "wiped:\n" << screen.text();
  EXPECT_NE(screen.text().find("   4 of 4: "), std::string::npos) << screen.text();
}

TEST_F(SweepCommand, SettingsSeedsAndRowsOfTheCommandLineOutrankTheFile) {
  const Result result = sweep({"rates.toml", "--rounds", "7", "--seeds", "5,6,7", "--row", "large",
                               "--out", "somewhere", "--quiet"});
  EXPECT_EQ(result.status, 0) << result.err;
  ASSERT_EQ(runs("somewhere").size(), 3U);
  const auto summary = support::summary_of(runs("somewhere")[2]);
  EXPECT_EQ(summary["seed"], 7);
  EXPECT_EQ(summary["training_rounds"], 7);
}

TEST_F(SweepCommand, APartLeavesTheOthersInTheTableAndTheRecord) {
  const Result all = sweep({"rates.toml", "--quiet"});
  ASSERT_EQ(all.status, 0) << all.err;
  const std::string record = support::read_text(scratch_ / "runs/rates/rates.sweep.json");
  const Result part = sweep({"rates.toml", "--row", "large", "--seeds", "2", "--quiet"});
  EXPECT_EQ(part.status, 0) << part.err;
  EXPECT_EQ(part.out, all.out);
  EXPECT_EQ(support::read_text(scratch_ / "runs/rates/rates.sweep.json"), record);
  const Result plan = sweep({"rates.toml", "--row", "large", "--seeds", "2", "--dry-run"});
  EXPECT_NE(plan.out.find("large, seed 2  finished"), std::string::npos) << plan.out;
  EXPECT_EQ(plan.out.find("small"), std::string::npos) << plan.out;
}

TEST_F(SweepCommand, FilesOfOneNameInSeveralFoldersHaveRecordsOfTheirOwn) {
  for (const char* folder : {"a", "b"}) {
    fs::create_directories(scratch_ / folder);
    fs::copy(scratch_ / "rates.toml", scratch_ / folder / "rates.toml");
    const Result result =
        sweep({std::string(folder) + "/rates.toml", "--quick", "--quiet", "--out", "common"});
    EXPECT_EQ(result.status, 0) << result.err;
  }
  EXPECT_EQ(runs("common").size(), 2U) << "shared";
  for (const char* name : {"a-rates-quick", "b-rates-quick"}) {
    EXPECT_TRUE(fs::exists(scratch_ / "common" / (std::string(name) + ".sweep.json"))) << name;
    EXPECT_TRUE(fs::exists(scratch_ / "common" / (std::string(name) + ".html"))) << name;
  }
}

TEST_F(SweepCommand, SurvivesARunThatFails) {
  std::string text = kFile;
  text.replace(text.find("0.01"), 4, "1e30");
  support::write_text(scratch_ / "rates.toml", text);
  const Result result = sweep({"rates.toml", "--quiet"});
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(result.err.starts_with("hearsay: small, seed 1: [train] the ")) << result.err;
  EXPECT_NE(result.out.find("small            failed      1           -  0 of 2\n"),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find(" 2\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\nfailed ([train] the "), std::string::npos) << result.out;
  const Result report = hearsay({"report", "runs/rates", "--html", "none"}, scratch_.path());
  EXPECT_NE(report.out.find("\nfailed ([train] the "), std::string::npos) << report.out;
}

TEST_F(SweepCommand, DryRunTrainsNothing) {
  const Result result = sweep({"rates.toml", "--dry-run"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("small, seed 2   open  runs/rates/small-s2-"), std::string::npos)
      << result.out;
  EXPECT_FALSE(fs::exists(scratch_ / "runs"));
}

/// What --dry-run prints is what a start refuses.
TEST_F(SweepCommand, TrainsNothingIfARunCannotWork) {
  std::string text = kFile;
  text.insert(text.find("[base]"),
              "[[axes]]\nname = 'sent'\ncompressor = ['identity', 'topk:keep=0.5']\n");
  text.replace(text.find("paper = {loss = 1.0}"), 20, "algorithm = 'dsgd'");
  support::write_text(scratch_ / "rates.toml", text);
  const Result plan = sweep({"rates.toml", "--dry-run"});
  EXPECT_EQ(plan.status, 2);
  EXPECT_NE(plan.out.find("large, sent topk:keep=0.5, seed 2   open"), std::string::npos)
      << plan.out;
  EXPECT_EQ(plan.out.find("small, sent topk:keep=0.5"), std::string::npos) << plan.out;
  EXPECT_TRUE(
      plan.err.starts_with("hearsay: [rates.toml] 2 of 8 runs cannot work, so nothing is "
                           "trained:\n  [dsgd] does not compress"))
      << plan.err;
  EXPECT_NE(plan.err.find("\n    {row = 'small', sent = 'topk:keep=0.5'},\n"), std::string::npos)
      << plan.err;
  const Result start = sweep({"rates.toml"});
  EXPECT_EQ(start.status, 2);
  EXPECT_EQ(start.err, plan.err);
  EXPECT_FALSE(fs::exists(scratch_ / "runs"));
  text.insert(text.find("[base]"), "[[exclude]]\nrow = 'small'\nsent = 'topk:keep=0.5'\n");
  support::write_text(scratch_ / "rates.toml", text);
  EXPECT_EQ(sweep({"rates.toml", "--dry-run"}).status, 0);
}

TEST_F(SweepCommand, MistakesAreToldBeforeAnythingIsWritten) {
  const auto error = [&](std::vector<std::string> arguments) {
    const Result result = sweep(std::move(arguments));
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_EQ(error({"none.toml"}), "hearsay: [sweep] there is no file 'none.toml'\n");
  EXPECT_EQ(error({"rates.toml", "--where", "cifar10"}),
            "hearsay: [sweep] --where must be NAME=PATH, as cifar10=data/cifar, got 'cifar10'\n");
  EXPECT_EQ(error({"rates.toml", "--row", "x"}),
            "hearsay: [sweep] there is no row 'x'; there are small, large\n");
  support::write_text(scratch_ / "data.toml", "title = 't'\n[base]\ndata = 'cifar10'\n");
  EXPECT_EQ(error({"data.toml"}),
            "hearsay: [data.toml] no row can be run: no data; give --where cifar10=PATH\n");
  support::write_text(scratch_ / "wrong.toml", "title = 't'\nrows = [{label = 'a', epohs = 3}]\n");
  EXPECT_EQ(
      error({"wrong.toml"}),
      "hearsay: [wrong.toml, line 2] there is no 'epohs' here (did you mean 'epochs'?); there "
      "are label, paper, missing, quick, the settings of hearsay train\n");
  EXPECT_TRUE(error({"rates.toml", "--optimizer", "zzz"})
                  .starts_with("hearsay: [optimizer] no optimizer is named 'zzz'"));
  EXPECT_TRUE(error({"rates.toml", "--lr", "0.1,0.2"}).starts_with("hearsay: [learning rate] "));
  for (const char* seeds : {"", ",", "1.5", "-1", "1,x", "1e3"}) {
    EXPECT_TRUE(error({"rates.toml", "--seeds", seeds}).find("--seeds") != std::string::npos)
        << seeds;
  }
  EXPECT_FALSE(fs::exists(scratch_ / "runs"));
}

}  // namespace
}  // namespace hearsay::cli
