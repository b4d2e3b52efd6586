#include <gtest/gtest.h>

#include <memory>
#include <regex>

#include "cli/process.h"
#include "hearsay/algorithm/algorithm.h"
#include "hearsay/compress/compressor.h"
#include "hearsay/core/version.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/image/augment.h"
#include "hearsay/data/partition.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/gossip/learning_rate.h"
#include "hearsay/gossip/optimizer.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/model/models.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;

class Commands : public ::testing::Test {
 protected:
  /// Standard output of a command that must succeed with empty standard error.
  std::string output(const std::vector<std::string>& arguments) {
    const Result result = hearsay(arguments, scratch_.path());
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.err, "");
    return result.out;
  }

  support::Scratch scratch_;
};

void expect_all(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in:\n" << text;
  }
}

TEST_F(Commands, SayThatTheirOutputWasLost) {
  for (const Words& words : {Words{"--version"}, {"list", "graphs"}, {"graph", "ring"}}) {
    Child child(words, scratch_.path(), "/dev/full", scratch_ / "err");
    EXPECT_EQ(child.wait(), 1) << words[0];
    EXPECT_EQ(support::read_text(scratch_ / "err"),
              "hearsay: [output] what was to be printed could not be written in whole; is the disk "
              "full?\n")
        << words[0];
  }
}

TEST_F(Commands, VersionIsOneLine) {
  EXPECT_EQ(output({"-V"}), output({"--version"}));
  EXPECT_EQ(output({"--version"}), "hearsay " + std::string(version()) + "\n");
}

TEST_F(Commands, HelpNamesEverySubcommandAndOption) {
  expect_all(output({"--help"}), {"train", "graph", "list", "report", "eval", "--version"});
  EXPECT_EQ(output({}), output({"--help"}));
  const std::string help = std::regex_replace(output({"train", "--help"}), std::regex("\\s+"), " ");
  for (const train::Option& option : train::options()) {
    expect_all(help, {"--" + std::string(option.key), std::string(option.meaning).substr(0, 20)});
  }
  expect_all(help, {"--out", "--resume", "--quiet", "default: scsp", "default: digits",
                    "default: 32", "default: cpu"});
}

/// Spectral properties are those of the product, except the smallest eigenvalue: (1 + 2 cos pi) / 3
/// of a ring of six, and 0 of a star.
TEST_F(Commands, GraphSaysOfWhichMatrixItTellsTheSmallestEigenvalue) {
  expect_all(output({"graph", "ring", "-n", "6"}), {"  smallest eigenvalue          -0.333333\n"});
  expect_all(output({"graph", "cycle:ring+star", "-n", "6"}),
             {"  smallest of any W            -0.333333\n"});
}

TEST_F(Commands, TrainComparesIfAskedTo) {
  const std::string said = output(
      {"train", "--data", "least-squares", "--rounds", "30", "--compare", "yes", "--out", "run"});
  expect_all(said, {"\nthis run ", "\nno communication ", "\nuncompressed "});
  EXPECT_EQ(output({"train", "--data", "least-squares", "--rounds", "30"}).find("no communication"),
            std::string::npos);
  fs::remove_all(scratch_ / "run/compare/full");
  expect_all(output({"train", "--resume", "run"}),
             {"\nthis run ", "\nno communication ", "\nuncompressed "});
}

TEST_F(Commands, TrainTakesTheNextFreeDirectory) {
  const std::vector<std::string> train{"train", "--data", "least-squares", "--rounds", "3"};
  expect_all(output(train), {"run directory: runs/001\n"});
  expect_all(output(train), {"run directory: runs/002\n"});
}

TEST_F(Commands, TrainTakesADirectoryOfItsOwnBesideOthersThatBeginAtOnce) {
  const std::vector<std::string> train{"train",    "--data", "least-squares",
                                       "--rounds", "50",     "--quiet"};
  {
    std::vector<std::unique_ptr<Child>> children;
    for (int k = 0; k < 4; ++k) {
      children.push_back(std::make_unique<Child>(train, scratch_.path(),
                                                 scratch_ / ("out" + std::to_string(k)),
                                                 scratch_ / ("err" + std::to_string(k))));
    }
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(children[static_cast<std::size_t>(k)]->wait(), 0)
          << support::read_text(scratch_ / ("err" + std::to_string(k)));
    }
  }
  for (const char* run : {"001", "002", "003", "004"}) {
    EXPECT_TRUE(fs::exists(scratch_ / "runs" / run / "summary.json")) << run;
    EXPECT_EQ(support::metrics_of(scratch_ / "runs" / run).front()["round"], 0);
  }
}

TEST_F(Commands, TrainShowsValidation) {
  const std::string said = output(
      {"train", "--model", "logistic", "--rounds", "4", "--validation", "0.1", "--out", "run"});
  expect_all(said, {") validation ", "  validation %  "});
  expect_all(output({"report", "run"}), {"  validation %  "});
}

TEST_F(Commands, TrainWithAControlThatFailsStillSucceeds) {
  output({"train", "--data", "least-squares", "--rounds", "9", "--compare", "yes", "--out", "run",
          "--quiet"});
  support::write_text(scratch_ / "run/compare/silence/config.toml", "peers =");
  const Result result = hearsay({"train", "--resume", "run"}, scratch_.path());
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.err.starts_with("hearsay: warning: [compare silence] [")) << result.err;
  expect_all(result.out, {"\nthis run ", "\nuncompressed ", "run directory: run\n"});
}

TEST_F(Commands, TrainQuietPrintsTheRunDirectoryAlone) {
  EXPECT_EQ(output({"train", "--rounds", "3", "--quiet"}), "runs/001\n");
  EXPECT_TRUE(fs::exists(scratch_ / "runs/001/summary.json"));
  EXPECT_EQ(output({"train", "--resume", "runs/001", "--quiet"}), "runs/001\n");
}

TEST_F(Commands, TrainEndsWithItsPageAndHowToOpenIt) {
  const std::string said =
      output({"train", "--data", "least-squares", "--rounds", "3", "--out", "my run"});
  EXPECT_TRUE(
      said.ends_with("\nrun directory: my run\npage: my run/report.html; open it in a "
                     "browser, or serve it: hearsay watch 'my run'\n"))
      << said;
  EXPECT_TRUE(fs::exists(scratch_ / "my run/report.html"));
}

TEST_F(Commands, TablesFitAHundredColumnsUnlessTheyMayBeWide) {
  const auto longest_after = [](const std::string& text, const std::string& mark) {
    std::istringstream lines(text.substr(std::min(text.find(mark), text.size())));
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    return longest;
  };
  for (const char* wide : {"", "--wide"}) {
    const bool narrow = std::string(wide).empty();
    fs::remove_all(scratch_ / "run");
    Words train{"train", "--rounds", "3", "--out", "run"}, report{"report", "run", "run"};
    if (!narrow) train.emplace_back(wide), report.emplace_back(wide);
    const std::string run = output(train), both = output(report);
    EXPECT_EQ(longest_after(run, "\n\n") <= 100, narrow) << run;
    EXPECT_EQ(longest_after(both, "run ") <= 100, narrow) << both;
    EXPECT_EQ(both.find("\nnot shown: mass drift, ") == std::string::npos, !narrow) << both;
    for (const std::string& text : {run, both}) {
      EXPECT_EQ(text.find("mass drift  ") == std::string::npos, narrow) << text;
      expect_all(text, {"accuracy %", "worst peer", "averaged model", "bytes sent"});
    }
  }
}

TEST_F(Commands, FlagsOutrankTheConfigFile) {
  support::write_text(scratch_ / "run.toml",
                      "data = 'least-squares'\nepochs = 50\nseed = 5\npeers = 6\n");
  output({"train", "run.toml", "--rounds", "3", "--seed", "7", "--out", "run", "--quiet"});
  const nlohmann::json summary = support::summary_of(scratch_ / "run");
  EXPECT_EQ(summary["seed"], 7);
  EXPECT_EQ(summary["peers"], 6);
  EXPECT_EQ(summary["epochs"], 3) << "an epoch of a closed-form problem is a round";
}

TEST_F(Commands, AConfigThatWasWrittenRunsTheSameAgain) {
  output({"train", "--data", "least-squares:noise=1", "--rounds", "30", "--seed", "007", "--out",
          "first", "--quiet"});
  output({"train", "first/config.toml", "--out", "second", "--quiet"});
  EXPECT_EQ(support::lasting(support::summary_of(scratch_ / "first")),
            support::lasting(support::summary_of(scratch_ / "second")));
}

TEST_F(Commands, ResumeTellsFromWhereItGoesOn) {
  output({"train", "--data", "least-squares", "--rounds", "20", "--out", "run", "--quiet"});
  for (const auto& file : {"summary.json", "models/peer-0.safetensors"}) {
    fs::remove(scratch_ / "run" / file);
  }
  expect_all(output({"train", "--resume", "run", "--threads", "1"}), {"going on from round "});
  EXPECT_TRUE(fs::exists(scratch_ / "run/summary.json"));
  EXPECT_TRUE(fs::exists(scratch_ / "run/models/peer-0.safetensors"));
}

template <class Entry>
void expect_rows(const std::string& text, const Registry<Entry>& registry) {
  for (const Entry& entry : registry) {
    expect_all(text, {"  " + std::string(entry.name) + " ", std::string(entry.summary)});
    for (const Parameter& parameter : entry.parameters) {
      expect_all(text, {"      " + std::string(parameter.key) + "="});
    }
  }
}

TEST_F(Commands, ListNamesEveryRowOfEveryFamily) {
  expect_rows(output({"list", "graphs"}), graph::registry());
  expect_rows(output({"list", "compressors"}), compress::registry());
  expect_rows(output({"list", "algorithms"}), algorithm::registry());
  expect_rows(output({"list", "data"}), data::dataset_registry());
  expect_rows(output({"list", "data"}), engine::objective_registry());
  expect_rows(output({"list", "partitions"}), data::partition_registry());
  expect_rows(output({"list", "optimizers"}), gossip::optimizer_registry());
  expect_rows(output({"list", "rates"}), gossip::learning_rate_registry());
  expect_rows(output({"list", "models"}), model::model_registry());
  expect_rows(output({"list", "augmentations"}), data::augmentation_registry());
  expect_all(output({"list"}), {output({"list", "graphs"}), output({"list", "rates"})});
}

TEST_F(Commands, TheConfigReferenceIsWhatListMarkdownPrints) {
  EXPECT_EQ(support::read_text(fs::path(HEARSAY_SOURCE) / "docs/config_reference.md"),
            output({"list", "--markdown"}))
      << "hearsay list --markdown > docs/config_reference.md";
}

// The directed ring of three: eigenvalues 1/2 + e^(2 pi i k / 3) / 2, so modulus 1/2.
TEST_F(Commands, GraphPrintsFacts) {
  expect_all(
      output({"graph", "ring:directed", "-n", "3", "--dim", "1000", "--compressor", "sign"}),
      {"ring:directed: 3 peers\n", "strongly connected           yes\n",
       "column / row stochastic      yes / yes\n", "doubly stochastic, symmetric yes, no\n",
       "out-degree                   1\n", "second eigenvalue modulus    0.500000",
       "push-sum weights tend to     1.000 1.000 1.000\n", "messages per round           3\n",
       "12.1 kB uncompressed", "with sign, for 1000 parameters"});
  expect_all(output({"graph", "torus:3x5"}), {"torus:3x5: 15 peers\n"});
}

TEST_F(Commands, TrainTakesThePrecisionFromWhereItWasAskedFor) {
  std::ofstream(scratch_ / "bytes.toml") << "precision = 'int8'\nrounds = 2\n";
  const auto device = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "train");
    for (const char* more : {"--rounds", "2", "--quiet", "--out", "run"}) {
      arguments.emplace_back(more);
    }
    fs::remove_all(scratch_ / "run");
    const Result result = hearsay(arguments, scratch_.path());
    if (result.status != 0) return result.err;
    return train::options_of_run(scratch_ / "run").device;
  };
  EXPECT_EQ(device({"--precision", "int8"}), "cpu:precision=int8");
  EXPECT_EQ(device({"--precision", "auto"}), "cpu");
  EXPECT_EQ(device({"bytes.toml"}), "cpu:precision=int8");
  EXPECT_EQ(device({"bytes.toml", "--device", "cpu"}), "cpu:precision=int8");
  EXPECT_EQ(device({"bytes.toml", "--precision", "fp32"}), "cpu");
  EXPECT_EQ(device({"--data", "consensus", "--precision", "none"}), "cpu");
  expect_all(device({"--data", "consensus", "--device", "cpu:precision=int8"}),
             {"takes no precision"});
  // The config.toml of a run: its device may be another one, its 8 bits are kept.
  EXPECT_EQ(device({"--precision", "int8"}), "cpu:precision=int8");
  fs::rename(scratch_ / "run", scratch_ / "old");
  EXPECT_EQ(device({"old/config.toml", "--device", "cpu"}), "cpu:precision=int8");
  const std::string model = "old/models/peer-0.safetensors", note = "the run was in int8";
  expect_all(output({"eval", model}), {note});
  EXPECT_EQ(output({"eval", model, "--device", "cpu:precision=int8"}).find(note),
            std::string::npos);
}

TEST_F(Commands, CostCountsAPrecisionBesideFp32) {
  expect_all(
      output({"cost", "resnet20:norm=range-evonorm", "--precision", "int8", "--batch", "64"}),
      {"alone, fp32", "one of 4, fp32", "fp32 / int8", "codes of weights", "3.51x",
       "horowitz45:mac=4.6,mac16=2,mac8=0.3,"});
  const std::string fp32 = output({"cost", "mlp"});
  EXPECT_EQ(fp32.find("fp32"), std::string::npos) << fp32;
  EXPECT_EQ(fp32.find("measured on"), std::string::npos) << fp32;
  const Result refused = hearsay({"cost", "resnet20", "--precision", "int8"}, scratch_.path());
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.out, "");
  expect_all(refused.err, {"hearsay: [precision] int8 cannot train this model: bn1 is batch norm"});
  expect_all(hearsay({"cost", "mlp", "--precision", "fp8"}, scratch_.path()).err,
             {"[precision] must be fp32, tf32, bf16 or int8, got 'fp8'"});
}

TEST_F(Commands, CostMeasuresWhatItCounts) {
  expect_all(output({"cost", "mlp", "--input", "1x8x8", "--measure"}),
             {"energy is a model, not a measurement", "\n\nmeasured on this processor (",
              "one thread, 32 samples\n", "activations, counted", "arena, measured",
              "resident, measured", "training step, measured", " ms", "evaluation, measured"});
}

TEST_F(Commands, ReportComparesRuns) {
  for (const char* algorithm : {"dsgd", "psgd"}) {
    output({"train", "--data", "least-squares", "--rounds", "5", "--algorithm", algorithm, "--out",
            algorithm, "--quiet"});
  }
  const std::string table = output({"report", "dsgd", "psgd", "--wide", "--html", "none"});
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "report.html"));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 4) << "head, line and two rows:\n"
                                                             << table;
  expect_all(table, {"run ", "algorithm", "graph", "compressor", "to optimum", "bytes sent",
                     "of it global", "consensus distance"});
  EXPECT_EQ(output({"report", "dsgd", "psgd", "--wide", "--html", "both.html"}),
            table + "\npage: both.html\n");
  const std::string page = support::read_text(scratch_ / "both.html");
  expect_all(page, {"<!DOCTYPE html>", "<summary>dsgd: dsgd on ", "<summary>psgd: psgd on ",
                    "<table class=\"sortable\">", "</html>"});
}

TEST_F(Commands, ReportPutsItsPageBesideTheRunOrHere) {
  output({"train", "--data", "least-squares", "--rounds", "5", "--out", "run", "--quiet"});
  std::filesystem::remove(scratch_ / "run/report.html");
  expect_all(output({"report", "run"}), {"\npage: run/report.html\n"});
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "run/report.html"));
  expect_all(output({"report", "run", "run"}), {"\npage: report.html\n"});
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "report.html"));
}

TEST_F(Commands, GraphDrawsAFile) {
  expect_all(output({"graph", "ring:directed", "-n", "5", "--svg", "ring.svg"}),
             {"strongly connected", "\npicture: ring.svg\n"});
  expect_all(support::read_text(scratch_ / "ring.svg"),
             {"<svg xmlns=", "data-edge=\"4-0\"", "</svg>"});
}

}  // namespace
}  // namespace hearsay::cli
