#include "hearsay/report/sweep_sheets.h"

#include <gtest/gtest.h>

#include <list>

#include <fmt/format.h>

#include "hearsay/report/page/page.h"
#include "hearsay/report/page/sweep_section.h"
#include "support/scratch.h"

namespace hearsay::report {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// A record over runs of one evaluation, rows by skew.
class SweepSheets : public ::testing::Test {
 protected:
  SweepSheets() {
    record_.sweep.title = "A table";
    record_.sweep.figures = {{.name = "SP", .key = "loss", .unit = "%"}};
  }

  /// A row at a place, with a finished run for each loss.
  void add(const sweep::Place& place, const std::vector<double>& losses,
           std::optional<double> printed = {}) {
    sweep::SweepRow row;
    row.label = sweep::label_of(place);
    row.place = place;
    if (printed) row.printed = {{"SP", *printed}};
    record_.sweep.rows.push_back(row);
    auto& runs = record_.runs.emplace_back();
    for (const double loss : losses) {
      runs.push_back(scratch_ / fmt::format("run-{}", ++runs_));
      std::filesystem::create_directories(runs.back());
      support::write_text(runs.back() / "config.toml", train::RunOptions().to_toml());
      support::write_text(runs.back() / "summary.json", "{\"dim\": 4}");
      support::write_text(runs.back() / "metrics.jsonl",
                          fmt::format("{{\"round\": 10, \"loss\": {}}}\n", loss));
    }
  }
  /// A row whose run failed.
  void add_failed(const sweep::Place& place, const std::string& why) {
    add(place, {1});
    const std::filesystem::path run = record_.runs.back().front();
    std::filesystem::remove(run / "summary.json");
    record_.failed[run.filename().string()] = why;
  }

  SweepTable table() {
    std::vector<std::vector<const Record*>> rows;
    for (const auto& runs : record_.runs) {
      auto& row = rows.emplace_back();
      for (const std::filesystem::path& run : runs) row.push_back(&records_.emplace_back(run));
    }
    return tabulate(record_, rows);
  }
  std::vector<SweepSheet> sheets() { return sweep_sheets(record_, table()); }
  std::string text(bool markdown = false) { return sweep_text(record_, table(), markdown); }

  support::Scratch scratch_;
  sweep::SweepRecord record_;
  std::list<Record> records_;
  int runs_ = 0;
};

TEST_F(SweepSheets, HaveTheValuesOfAnAxisAsColumns) {
  add({{"row", "dsgd"}, {"skew", "0"}}, {90, 92}, 91.5);
  add({{"row", "dsgd"}, {"skew", "0.8"}}, {70, 70});
  add({{"row", "choco"}, {"skew", "0"}}, {80, 80});
  const auto all = sheets();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].title, "SP %, by skew; 2 seeds; in parentheses the paper's");
  EXPECT_EQ(
      all[0].rows,
      (Rows{{"", "0", "0.8"}, {"dsgd", "91.00 +- 1.41 (91.5)", "70.00"}, {"choco", "80.00", ""}}))
      << "blank: the sweep has no such combination";
  EXPECT_EQ(text(),
            "A table\n\nSP %, by skew; 2 seeds; in parentheses the paper's\n\n"
            "                          0    0.8\n----------------------------------\n"
            "dsgd   91.00 +- 1.41 (91.5)  70.00\nchoco                 80.00\n");
  EXPECT_NE(text(true).find("\n**SP %, by skew; 2 seeds; in parentheses the paper's**\n\n"
                            "|  | 0 | 0.8 |\n| --- | ---: | ---: |\n| dsgd | "),
            std::string::npos)
      << text(true);
}

TEST_F(SweepSheets, AreByTheLastAxisThatHasSeveralValues) {
  for (const char* row : {"a", "b"}) {
    for (const char* graph : {"ring", "star"}) {
      add({{"row", row}, {"graph", graph}, {"skew", "0"}}, {1});
    }
  }
  const auto all = sheets();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].title, "SP %, by graph; 1 seed");
  EXPECT_EQ(all[0].rows.back(), (std::vector<std::string>{"b, skew 0", "1.00", "1.00"}));
}

/// Also an own table with the numbers of seeds, where they differ.
TEST_F(SweepSheets, HaveATableForEachFigure) {
  record_.sweep.figures.push_back({.name = "twice", .key = "loss", .scale = 2});
  record_.sweep.figures.push_back({.name = "nobody's", .key = "accuracy_mean"});
  add({{"row", "a"}, {"n", "4"}}, {1, 1});
  add({{"row", "a"}, {"n", "8"}}, {2});
  add({{"row", "b"}, {"n", "4"}}, {3, 3});
  add({{"row", "b"}, {"n", "8"}}, {});
  const auto all = sheets();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].title, "SP %, by n");
  EXPECT_EQ(all[1].title, "twice, by n");
  EXPECT_EQ(all[1].rows[1], (std::vector<std::string>{"a", "2.00", "4.00"}));
  EXPECT_EQ(all[2].title, "seeds, by n");
  EXPECT_EQ(all[2].rows, (Rows{{"", "4", "8"}, {"a", "2", "1"}, {"b", "2", "-"}}));
}

TEST_F(SweepSheets, AreOneListWhereThatIsEasierToRead) {
  for (const char* n : {"4", "8", "16"}) add({{"row", "only"}, {"n", n}}, {1});
  ASSERT_EQ(sheets().size(), 1U);
  EXPECT_EQ(sheets()[0].title, "") << "a single line has nothing to cross";
  EXPECT_EQ(sheets()[0].rows, sweep_rows(record_, table()));
  for (int n = 0; n < 20; ++n) add({{"row", "b"}, {"n", fmt::format("value {}", n)}}, {1});
  EXPECT_EQ(sheets()[0].title, "") << "wider than 100 characters";
}

TEST_F(SweepSheets, NameWhatFailedAndWhy) {
  add({{"row", "a"}, {"lr", "1"}}, {1});
  add_failed({{"row", "a"}, {"lr", "9"}}, "[train] it is nan\nand more");
  add({{"row", "b"}, {"lr", "1"}}, {1});
  add_failed({{"row", "b"}, {"lr", "9"}}, "[train] it is nan");
  EXPECT_EQ(sheets()[0].rows,
            (Rows{{"", "1", "9"}, {"a", "1.00", "failed"}, {"b", "1.00", "failed"}}));
  EXPECT_TRUE(text().ends_with("\nfailed ([train] it is nan): a, lr 9; b, lr 9\n")) << text();
  // A run that has finished since is no failure.
  support::write_text(record_.runs[1][0] / "summary.json", "{\"dim\": 4}");
  EXPECT_EQ(sheets()[0].rows[1], (std::vector<std::string>{"a", "1.00", "1.00"}));
  EXPECT_TRUE(text().ends_with("\nfailed ([train] it is nan): b, lr 9\n")) << text();
}

/// A small network on other data has nothing to do with a paper's numbers.
TEST_F(SweepSheets, OfAQuickProfileAreNotBesideThePapers) {
  record_.sweep.quick = true;
  add({{"row", "a"}, {"n", "4"}}, {3}, 91);
  add({{"row", "b"}, {"n", "4"}}, {1}, 92);
  record_.sweep.differences = {{.label = "d",
                                .from = {{{"row", "a"}, {"n", "4"}}, "SP"},
                                .minus = {{{"row", "b"}, {"n", "4"}}, "SP"},
                                .printed = -1}};
  EXPECT_EQ(sheets()[0].rows,
            (Rows{{"", "SP %", "seeds"}, {"a, n 4", "3.00", "1"}, {"b, n 4", "1.00", "1"}}));
  EXPECT_EQ(difference_rows(record_, table()), (Rows{{"", "ours"}, {"d", "+2.00"}}));
  EXPECT_TRUE(dot_plots({record_, table(), {}}, "p").empty());
}

/// The same on the page, with the axes' values of every curve for its charts.
TEST_F(SweepSheets, AreOnThePage) {
  add({{"row", "a"}, {"zeta", "1"}, {"lr", "1"}}, {1});
  add_failed({{"row", "a"}, {"zeta", "1"}, {"lr", "9"}}, "[train] <nan>");
  add({{"row", "b"}, {"zeta", "1"}, {"lr", "1"}}, {2});
  sweep::SweepRuns runs;
  for (const auto& of_row : record_.runs) {
    runs.of_row.push_back({runs.runs.size()});
    runs.runs.push_back({"", {}, of_row[0]});
  }
  sweep::write_sweep_record(scratch_ / "f.sweep.json", record_.sweep, runs, record_.failed);
  const Runs read = read_runs(std::vector<std::string>{scratch_.path().string()});
  ASSERT_EQ(read.problems, std::vector<std::string>());
  const std::string page = make_page(read).html;
  for (const char* part :
       {"<h3>SP %, by lr</h3>", ">failed</span></td>",
        "<summary>Rows that failed</summary><ul>\n<li>a, zeta 1, lr 9: [train] &lt;nan&gt;</li>",
        R"("place":{"row":"b","zeta":"1","lr":"1"})"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace hearsay::report
