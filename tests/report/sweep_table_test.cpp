#include "hearsay/report/sweep_table.h"

#include <gtest/gtest.h>

#include <list>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"
#include "support/scratch.h"

namespace hearsay::report {
namespace {

using sweep::Difference;
using sweep::Figure;
using Rows = std::vector<std::vector<std::string>>;

/// A record over run directories that are written by hand.
class SweepTableTest : public ::testing::Test {
 protected:
  /// A run with one evaluation per value, at rounds 10, 20, ...
  std::filesystem::path add_run(const std::vector<double>& losses) {
    const std::filesystem::path run = scratch_ / fmt::format("run-{}", ++runs_);
    std::filesystem::create_directories(run);
    support::write_text(run / "config.toml", train::RunOptions().to_toml());
    support::write_text(run / "summary.json", "{\"dim\": 4}");
    std::string lines;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      lines += fmt::format("{{\"round\": {}, \"loss\": {}}}\n", 10 * (i + 1), losses[i]);
    }
    support::write_text(run / "metrics.jsonl", lines);
    return run;
  }

  void add_row(const std::string& label, const std::vector<std::filesystem::path>& runs,
               const std::vector<std::pair<std::string, double>>& printed = {}) {
    sweep::SweepRow row;
    row.label = label;
    row.place = {{"row", label}};
    row.printed = printed;
    record_.sweep.rows.push_back(row);
    record_.runs.push_back(runs);
  }

  /// Over the existing runs.
  static SweepTable table_of(const sweep::SweepRecord& record) {
    std::list<Record> records;
    std::vector<std::vector<const Record*>> rows;
    for (const auto& runs : record.runs) {
      auto& row = rows.emplace_back();
      for (const std::filesystem::path& run : runs) {
        if (std::filesystem::exists(run)) row.push_back(&records.emplace_back(run));
      }
    }
    return tabulate(record, rows);
  }
  SweepTable table() const { return table_of(record_); }
  Rows rows() const { return sweep_rows(record_, table()); }

  support::Scratch scratch_;
  sweep::SweepRecord record_;
  int runs_ = 0;
};

TEST_F(SweepTableTest, ShowsMeanSpreadPrintedAndDifference) {
  record_.sweep.figures = {{.name = "SP", .key = "loss", .unit = "%"}};
  add_row("three seeds", {add_run({91.0}), add_run({91.5}), add_run({92.2})}, {{"SP", 90.68}});
  add_row("alike", {add_run({5}), add_run({5})});
  add_row("one", {add_run({91.0})}, {{"SP", 92.0}});
  add_row("one of two", {add_run({91.0}), scratch_ / "not-there"});
  add_row("not run", {}, {{"SP", 80.0}});
  record_.sweep.rows.back().missing = "why";
  EXPECT_EQ(rows(), (Rows{{"", "SP %", "paper", "difference", "seeds"},
                          {"three seeds", "91.57 +- 0.60", "90.68", "+0.89", "3"},
                          {"alike", "5.00", "-", "-", "2"},
                          {"one", "91.00", "92", "-1.00", "1"},
                          {"one of two", "91.00", "-", "-", "1 of 2"},
                          {"not run", "-", "80", "-", "-"}}));
}

TEST_F(SweepTableTest, WritesNoNegativeZero) {
  record_.sweep.figures = {{.name = "factor", .key = "loss", .digits = 1}};
  add_row("below", {add_run({664.98})}, {{"factor", 665}});
  EXPECT_EQ(rows()[1], (std::vector<std::string>{"below", "665.0", "665", "+0.0", "1"}));
}

TEST_F(SweepTableTest, ShowsTinyNumbersAsPowersOfTen) {
  record_.sweep.figures = {{.name = "d", .key = "loss", .digits = 2}};
  add_row("tiny", {add_run({1.4e-5}), add_run({1.6e-5})}, {{"d", 1.512e-5}});
  add_row("zero", {add_run({0})}, {{"d", 2e-4}});
  add_row("none printed", {add_run({3})}, {{"d", 0}});
  add_row("one digit", {add_run({0.0651})});
  add_row("two digits", {add_run({0.0996})});
  EXPECT_EQ(rows()[1], (std::vector<std::string>{"tiny", "1.50e-05 +- 1.41e-06", "1.512e-05",
                                                 "-1.20e-07", "2"}));
  EXPECT_EQ(rows()[2], (std::vector<std::string>{"zero", "0.00", "0.0002", "-2.00e-04", "1"}));
  EXPECT_EQ(rows()[3], (std::vector<std::string>{"none printed", "3.00", "0", "+3.00", "1"}));
  EXPECT_EQ(rows()[4][1], "6.51e-02");
  EXPECT_EQ(rows()[5][1], "0.10");
  record_.sweep.figures[0].digits = 0;
  EXPECT_EQ(rows()[3][1], "3") << "whole numbers are whole";
}

TEST_F(SweepTableTest, LeavesOutFiguresThatNobodyHas) {
  record_.sweep.figures = {{.name = "a", .key = "accuracy_mean"}, {.name = "b", .key = "loss"}};
  add_row("r", {add_run({1})});
  EXPECT_EQ(rows(), (Rows{{"", "b", "seeds"}, {"r", "1.00", "1"}}));
}

TEST_F(SweepTableTest, ComparesWithARowOfTheSamePlace) {
  record_.sweep.figures = {{.name = "ratio", .key = "loss", .against = "base"},
                           {.name = "transient",
                            .key = "loss",
                            .digits = 0,
                            .window = 20,
                            .against = "base",
                            .above = 1.2}};
  // Windows of two evaluations: (8, 8), (4, 4), (2, 2) for the base, over both seeds.
  add_row("base", {add_run({8, 8, 4, 4, 2, 2}), add_run({8, 8, 4, 4, 2, 2})});
  add_row("meets", {add_run({20, 20, 6, 4, 2, 2}), add_run({20, 20, 4, 6, 2.2, 2.2})});
  add_row("never", {add_run({20, 20, 4, 4, 3, 3})});
  add_row("at once", {add_run({8, 8, 4, 4, 2, 2})});
  add_row("open", {});
  EXPECT_EQ(rows(), (Rows{{"", "ratio", "transient", "seeds"},
                          {"base", "2.00", "-", "2"},
                          {"meets", "1.05", "40", "2"},
                          {"never", "1.50", "> 60", "1"},
                          {"at once", "1.00", "0", "1"},
                          {"open", "-", "-", "-"}}));
}

TEST_F(SweepTableTest, SaysWhatAPaperSaysInWords) {
  record_.sweep.figures = {{.name = "SP", .key = "loss"}};
  add_row("a", {add_run({91.0})});
  add_row("b", {add_run({85.0})});
  add_row("c", {scratch_ / "open"});
  const auto difference = [&](const char* label, const char* minus, Difference::Relation relation,
                              std::optional<double> printed) {
    record_.sweep.differences.push_back({.label = label,
                                         .from = {{{"row", "a"}}, "SP"},
                                         .minus = {{{"row", minus}}, "SP"},
                                         .relation = relation,
                                         .printed = printed});
  };
  using Relation = Difference::Relation;
  difference("is", "b", Relation::kIs, 7);
  difference("about", "b", Relation::kAbout, 6);
  difference("holds", "b", Relation::kAtMost, 6.5);
  difference("does not", "b", Relation::kAtMost, 0.5);
  difference("not printed", "b", Relation::kIs, {});
  difference("open", "c", Relation::kIs, 1);
  EXPECT_EQ(difference_rows(record_, table()), (Rows{{"", "ours", "paper", "difference"},
                                                     {"is", "+6.00", "7.00", "-1.00"},
                                                     {"about", "+6.00", "about 6.00", "+0.00"},
                                                     {"holds", "+6.00", "at most 6.50", "holds"},
                                                     {"does not", "+6.00", "at most 0.50", "+5.50"},
                                                     {"not printed", "+6.00", "-", "-"},
                                                     {"open", "-", "1.00", "-"}}));
}

TEST_F(SweepTableTest, IsTextWithWhatWasNotRun) {
  record_.sweep.title = "A table";
  record_.sweep.source = "a paper";
  record_.sweep.banner = "not the paper's data";
  record_.sweep.note = "Read on.";
  record_.sweep.figures = {{.name = "SP", .key = "loss"}};
  add_row("a", {add_run({1})});
  for (const char* label : {"b", "c", "d", "e", "f"}) {
    add_row(label, {});
    record_.sweep.rows.back().missing = "later";
  }
  EXPECT_EQ(sweep_text(record_, table(), false),
            "A table\na paper\n\nQuick profile: not the paper's data\n\n"
            "     SP  seeds\n--------------\na  1.00      1\nb     -      -\nc     -      -\n"
            "d     -      -\ne     -      -\nf     -      -\n\n"
            "not run (later): b; c; d; e; and 1 more\n\nRead on.\n");
  const std::string markdown = sweep_text(record_, table(), true);
  EXPECT_TRUE(markdown.starts_with("### A table\n\na paper\n\nQuick profile: ")) << markdown;
  EXPECT_NE(markdown.find("\n|  | SP | seeds |\n| --- | ---: | ---: |\n| a | 1.00 | 1 |\n"),
            std::string::npos)
      << markdown;
}

TEST_F(SweepTableTest, CountsFinishedRunsAlone) {
  record_.sweep.figures = {{.name = "SP", .key = "loss"}};
  const auto run = add_run({1});
  std::filesystem::remove(run / "summary.json");
  add_row("a", {run, add_run({3})});
  EXPECT_EQ(rows()[1], (std::vector<std::string>{"a", "3.00", "1 of 2"}));
}

/// A record with everything it can contain, over existing runs, changed in up to three places.
TEST_F(SweepTableTest, OfAGarbledRecordIsMadeOrRefused) {
  const sweep::Sweep sweep = sweep::read_sweep(R"(
title = "t"
figures = [{name = "r", key = "loss", window = 20, against = "a", above = 1.2},
           {name = "l", key = "loss", at = 20, squared = true, digits = 3}]
rows = [{label = "a", lr = 0.1, paper = {l = 1.5}}, {label = "b", lr = 0.2},
        {label = "c", missing = "not there yet"}]
differences = [{label = "d", from = {row = "a", figure = "l"}, minus = {row = "b", figure = "l"}}]
[base]
data = "least-squares"
rounds = 30
)",
                                               "f.toml");
  sweep::SweepRuns runs = sweep::runs_of(sweep, scratch_.path());
  for (sweep::SweepRun& run : runs.runs) run.out = add_run({3, 2, 1});
  const std::filesystem::path file = scratch_ / "x.sweep.json";
  sweep::write_sweep_record(file, sweep, runs);
  const std::string text = support::read_text(file);
  ASSERT_EQ(table_of(sweep::read_sweep_record(file)).finished, (std::vector<std::size_t>{1, 1, 0}));
  Random random(2026, Purpose::kTest);
  int made = 0;
  for (int i = 0; i < 500; ++i) {
    std::string garbled = text;
    for (int k = i % 3; k < 3; ++k) {
      garbled[random.below(text.size())] = "0\"{}[],-.e9x"[random.below(13)];
    }
    support::write_text(file, garbled);
    try {
      const sweep::SweepRecord record = sweep::read_sweep_record(file);
      EXPECT_FALSE(sweep_text(record, table_of(record), false).empty());
      ++made;
    } catch (const CorruptData&) {
    }
  }
  EXPECT_GT(made, 0);
}

TEST_F(SweepTableTest, NeedsAWindowToFindATransientStage) {
  const std::filesystem::path file = scratch_ / "x.sweep.json";
  support::write_text(file, R"({"v": 1, "title": "", "source": "", "note": "", "quick": false,
    "banner": "", "differences": [], "rows": [], "figures": [{"name": "f", "key": "loss",
    "unit": "", "at": "end", "digits": 1, "scale": 1, "window": -1, "against": "a", "above": 1}]})");
  EXPECT_THROW(sweep::read_sweep_record(file), CorruptData);
}

}  // namespace
}  // namespace hearsay::report
