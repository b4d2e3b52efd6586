#include "hearsay/report/record.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/run/compare.h"
#include "report/run_directories.h"

namespace hearsay::report {
namespace {

namespace fs = std::filesystem;
using support::Scratch;

/// What is wrong with a run directory, with the directory's name as "run", or "" if nothing is.
std::string complaint(const fs::path& directory) {
  try {
    const Record record(directory);
  } catch (const std::exception& error) {
    std::string text = error.what();
    for (std::size_t at; (at = text.find(directory.string())) != std::string::npos;) {
      text.replace(at, directory.string().size(), "run");
    }
    return text;
  }
  return "";
}

TEST(Record, TellsWhatTheDirectorySays) {
  Scratch scratch;
  make_run(scratch / "run", "star", R"(, "bytes_by_peer": [5, 6], "class_names": ["cat", "dog"])");
  const Record record(scratch / "run");
  EXPECT_TRUE(record.finished());
  EXPECT_EQ(record.title(), (scratch / "run").string());
  EXPECT_EQ(record.config().graph, "star");
  EXPECT_EQ(record.columns().lines(), 2u);
  EXPECT_EQ(record.figure("accuracy_mean"), 86.75);
  EXPECT_EQ(record.figure("nothing"), std::nullopt);
  EXPECT_EQ(record.figure("bytes_by_peer"), std::nullopt);
  EXPECT_EQ(record.numbers("bytes_by_peer"), (std::vector<double>{5, 6}));
  EXPECT_EQ(record.table("class_counts"), (std::vector<std::vector<double>>{{7, 0}, {1, 23}}));
  EXPECT_EQ(record.class_names(), (std::vector<std::string>{"cat", "dog"}));
}

TEST(Record, OfARunThatHasNotFinishedTellsItsLastEvaluation) {
  Scratch scratch;
  make_run(scratch / "run");
  fs::remove(scratch / "run/summary.json");
  const Record record(scratch / "run");
  EXPECT_FALSE(record.finished());
  EXPECT_EQ(record.title(), (scratch / "run").string() + " (not finished)");
  EXPECT_EQ(record.figure("divergence"), 0.25);
  EXPECT_EQ(record.figure("round"), 50);
}

TEST(Record, AddsTheBytesOfGlobalAverages) {
  Scratch scratch;
  make_run(scratch / "run");
  support::write_text(scratch / "run/metrics.jsonl",
                      "{\"round\": 0, \"bytes_total\": 0}\n"
                      "{\"round\": 9, \"bytes_total\": 5, \"global_bytes_total\": 4000}\n");
  EXPECT_EQ(Record(scratch / "run").bytes(), (std::vector<double>{0, 4005}));
}

/// One thing is wrong with an otherwise good directory; the text names the file, and the line where
/// there is one.
struct Damage {
  const char* name;
  const char* file;
  const char* text;
  const char* complaint;
};
class DamagedRecord : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedRecord, IsRefusedWithFileAndLine) {
  Scratch scratch;
  make_run(scratch / "run");
  support::write_text(scratch / "run" / GetParam().file, GetParam().text);
  EXPECT_EQ(complaint(scratch / "run"), GetParam().complaint);
}

constexpr Damage kDamages[] = {
    {"torn_summary", "summary.json",
     "{\n\"peers\": 4,\n\"dim\": ", "[report] run/summary.json, line 3: it is no JSON object"},
    {"empty_summary", "summary.json", "",
     "[report] run/summary.json, line 1: it is no JSON object"},
    {"listed_summary", "summary.json", "[1, 2]",
     "[report] run/summary.json, line 1: it is no JSON object"},
    {"binary_summary", "summary.json",
     "\x7f"
     "ELF\x02\x01",
     "[report] run/summary.json, line 1: it is no JSON object"},
    {"broken_config", "config.toml", "peers = 4\ngraph = ring\n",
     "[run/config.toml, line 2] Error while parsing value: could not determine value type"},
    {"impossible_config", "config.toml", "\n\npeers = -4\n",
     "[run/config.toml, line 3] peers must be a whole number from 0 to 1048576, got '-4'"},
};
INSTANTIATE_TEST_SUITE_P(Files, DamagedRecord, ::testing::ValuesIn(kDamages),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Record, OfAConfigOfAnotherVersionNamesTheKey) {
  Scratch scratch;
  make_run(scratch / "run");
  support::write_text(scratch / "run/config.toml", "peers = 4\nwarp_drive = 9\n");
  EXPECT_TRUE(complaint(scratch / "run")
                  .starts_with("[run/config.toml, line 2] there is no setting 'warp_drive'"))
      << complaint(scratch / "run");
}

TEST(Record, IsOnlyMadeOfFiles) {
  Scratch scratch;
  const std::string none = "[report] run holds no run: ";
  EXPECT_EQ(complaint(scratch / "nowhere"), none + "there is no directory");
  support::write_text(scratch / "file", "text");
  EXPECT_EQ(complaint(scratch / "file"), none + "there is no directory");
  fs::create_directory(scratch / "empty");
  EXPECT_EQ(complaint(scratch / "empty"),
            none + "config.toml is missing, metrics.jsonl is missing");
  make_run(scratch / "half");
  fs::remove(scratch / "half/metrics.jsonl");
  EXPECT_EQ(complaint(scratch / "half"), none + "metrics.jsonl is missing");
  make_run(scratch / "folder");
  fs::remove(scratch / "folder/metrics.jsonl");
  fs::create_directory(scratch / "folder/metrics.jsonl");
  EXPECT_EQ(complaint(scratch / "folder"), none + "metrics.jsonl is no regular file");
  make_run(scratch / "pipe");
  fs::remove(scratch / "pipe/metrics.jsonl");
  ASSERT_EQ(::mkfifo((scratch / "pipe/metrics.jsonl").c_str(), 0600), 0);
  EXPECT_EQ(complaint(scratch / "pipe"), none + "metrics.jsonl is no regular file")
      << "a pipe would never end";
  make_run(scratch / "loop");
  fs::remove(scratch / "loop/config.toml");
  fs::create_symlink("config.toml", scratch / "loop/config.toml");
  EXPECT_EQ(complaint(scratch / "loop"), none + "config.toml is no regular file");
}

TEST(Record, TakesASummaryOfAnyDepthAndType) {
  Scratch scratch;
  make_run(scratch / "run");
  const std::string deep(100'000, '['), end(100'000, ']');
  support::write_text(scratch / "run/summary.json",
                      "{\"accuracy_mean\": [], \"deep\": " + deep + end +
                          ", \"class_counts\": [[1], \"two\"], \"bytes_by_peer\": [1, null]}");
  const Record record(scratch / "run");
  EXPECT_EQ(record.figure("accuracy_mean"), std::nullopt);
  EXPECT_TRUE(record.table("class_counts").empty());
  EXPECT_TRUE(record.numbers("bytes_by_peer").empty());
  EXPECT_LT(record.summary_json().size(), 1000u);
}

TEST(ControlRecords, LeaveOutThoseOfOtherSettingsAndDamagedOnes) {
  Scratch scratch;
  run::Observer silent;
  const train::RunOptions config =
      support::config_of({{"data", "least-squares"}, {"rounds", "5"}, {"compare", "yes"}});
  run::run(config, scratch / "run", silent);
  run::run_controls(scratch / "run", 1, silent);
  std::vector<std::string> problems;
  const auto names = [&] {
    std::vector<std::string> all;
    for (const auto& control : control_records(scratch / "run", config, problems)) {
      all.push_back(control.first);
    }
    return all;
  };
  EXPECT_EQ(names(), (std::vector<std::string>{"no communication", "uncompressed"}));
  std::string text = support::read_text(scratch / "run/compare/full/config.toml");
  text.replace(text.find("seed = 1"), 8, "seed = 2");
  support::write_text(scratch / "run/compare/full/config.toml", text);
  EXPECT_EQ(names(), std::vector<std::string>{"no communication"});
  EXPECT_TRUE(problems.empty());
  const std::filesystem::path damaged = scratch / "run/compare/silence/summary.json";
  support::write_text(damaged, "3");
  EXPECT_TRUE(names().empty());
  EXPECT_EQ(problems, std::vector<std::string>{"[report] " + damaged.string() +
                                               ", line 1: it is no JSON object"});
}

}  // namespace
}  // namespace hearsay::report
