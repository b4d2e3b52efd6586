#include "hearsay/report/runs.h"

#include <gtest/gtest.h>

#include "report/run_directories.h"

namespace hearsay::report {
namespace {

namespace fs = std::filesystem;
using support::Scratch;

/// A record with these figures and rows.
std::string sweep_json(const std::string& figures, const std::string& rows) {
  return R"({"v": 1, "title": "How much is kept", "source": "a paper", "note": "n", "quick": true,
             "banner": "small", "differences": [], "figures": [)" +
         figures + R"(], "rows": [)" + rows + "]}";
}
std::string row_json(const std::string& label, const std::string& runs) {
  return R"({"label": ")" + label + R"(", "place": {"row": ")" + label + R"("}, "runs": [)" + runs +
         R"(], "printed": {}, "missing": ""})";
}

TEST(ReadRuns, NamesWhatItLeavesOutAndReadsTheOthers) {
  Scratch scratch;
  make_run(scratch / "a");
  make_run(scratch / "b");
  const Runs runs = read_runs(std::vector<std::string>{
      (scratch / "a").string(), (scratch / "nowhere").string(), (scratch / "b").string()});
  ASSERT_EQ(runs.runs.size(), 2u);
  EXPECT_EQ(runs.runs[1].label, (scratch / "b").string());
  EXPECT_EQ(runs.problems.size(), 1u);
}

TEST(ReadRuns, TakesASweepForItsRuns) {
  Scratch scratch;
  for (const char* name : {"one-s1", "one-s2"}) make_run(scratch / name);
  support::write_text(
      scratch / "t.sweep.json",
      sweep_json("", row_json("1 %", R"("one-s1", "one-s2")") + "," +
                         row_json("0 %", R"("zero-s1")") + "," + row_json("8 bit", "")));
  for (const fs::path& given : {scratch.path(), scratch / "t.sweep.json"}) {
    const Runs runs = read_runs(std::vector<std::string>{given.string()});
    EXPECT_TRUE(runs.problems.empty()) << "a run that has not begun is none";
    ASSERT_EQ(runs.runs.size(), 2u);
    EXPECT_EQ(runs.runs[1].label, "1 %");
    ASSERT_EQ(runs.sweeps.size(), 1u);
    EXPECT_EQ(runs.sweeps[0].rows, (std::vector<std::vector<std::size_t>>{{0, 1}, {}, {}}));
    EXPECT_EQ(runs.sweeps[0].record.sweep.title, "How much is kept");
    EXPECT_EQ(runs.sweeps[0].table.finished, (std::vector<std::size_t>{2, 0, 0}));
  }
}

TEST(ReadRuns, ReadsARunOnceThatTwoSweepsShare) {
  Scratch scratch;
  make_run(scratch / "one-s1");
  support::write_text(scratch / "a.sweep.json", sweep_json("", row_json("x", R"("one-s1")")));
  support::write_text(scratch / "b.sweep.json", sweep_json("", row_json("y", R"("one-s1")")));
  const Runs runs = read_runs(std::vector<std::string>{scratch.path().string()});
  EXPECT_EQ(runs.runs.size(), 1u);
  ASSERT_EQ(runs.sweeps.size(), 2u);
  EXPECT_EQ(runs.sweeps[1].rows[0], std::vector<std::size_t>{0});
}

TEST(ReadRuns, NamesASweepRecordThatIsDamagedAndReadsTheOthers) {
  Scratch scratch;
  make_run(scratch / "run");
  support::write_text(scratch / "t.sweep.json", "{\n\"rows\": [\n");
  const std::string file = (scratch / "t.sweep.json").string();
  const Runs runs = read_runs(std::vector<std::string>{file, (scratch / "run").string()});
  EXPECT_EQ(runs.runs.size(), 1u);
  ASSERT_EQ(runs.problems.size(), 1u);
  EXPECT_TRUE(runs.problems[0].find(file) != std::string::npos &&
              runs.problems[0].find("line 3") != std::string::npos)
      << runs.problems[0];
}

TEST(ReadRuns, NamesOnceWhatASweepLeavesOut) {
  Scratch scratch;
  make_run(scratch / "one-s1");
  make_run(scratch / "one-s2");
  support::write_text(scratch / "t.sweep.json",
                      sweep_json("", row_json("x", R"("one-s1", "one-s2")")));
  const fs::path lines = scratch / "one-s1/metrics.jsonl";
  support::write_text(lines, "no JSON\n" + support::read_text(lines));
  support::write_text(scratch / "one-s2/metrics.jsonl", "");
  support::write_text(scratch / "one-s2/summary.json", "{}");
  const Runs runs = read_runs(std::vector<std::string>{scratch.path().string()});
  EXPECT_EQ(runs.problems,
            (std::vector<std::string>{
                "[report] " + lines.string() + ", line 1: it is no JSON object",
                "[report] " + (scratch / "one-s2/metrics.jsonl").string() + " is empty"}));
  ASSERT_EQ(runs.sweeps.size(), 1u);
  EXPECT_EQ(runs.sweeps[0].table.finished, std::vector<std::size_t>{1});
}

}  // namespace
}  // namespace hearsay::report
