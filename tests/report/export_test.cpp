#include "hearsay/report/export.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hearsay/report/seeds.h"
#include "report/run_directories.h"

namespace hearsay::report {
namespace {

using support::Scratch;

TEST(Latex, IsATableOfBooktabs) {
  EXPECT_EQ(latex_table({{"", "SP %", "paper", "difference"},
                         {"a_b & c", "91.02 +- 0.35", "90.68", "+0.34"},
                         {"tiny", "1.50e-05 +- 1.00e-06", "-", "-1.20e-07"},
                         {"rest", "> 60", "12.3 kB +- 1.1 kB", "75.3x"}}),
            "\\begin{tabular}{lrrr}\n"
            "\\toprule\n"
            " & SP \\% & paper & difference \\\\\n"
            "\\midrule\n"
            "a\\_b \\& c & $91.02 \\pm 0.35$ & 90.68 & $+0.34$ \\\\\n"
            "tiny & $1.50 \\cdot 10^{-5} \\pm 1.00 \\cdot 10^{-6}$ & -- & "
            "$-1.20 \\cdot 10^{-7}$ \\\\\n"
            "rest & $> 60$ & 12.3 kB $\\pm$ 1.1 kB & 75.3x \\\\\n"
            "\\bottomrule\n"
            "\\end{tabular}\n");
  EXPECT_EQ(latex_table({}), "");
}

TEST(Latex, EscapesWhatTexWouldRead) {
  EXPECT_EQ(escape_latex("\\input{x} $5 #1 50% a^b ~c <d> |e|\n\x7f"),
            "\\textbackslash{}input\\{x\\} \\$5 \\#1 50\\% a\\textasciicircum{}b "
            "\\textasciitilde{}c \\textless{}d\\textgreater{} \\textbar{}e\\textbar{}  ");
  EXPECT_EQ(escape_latex("\xc3\xa9"), "\xc3\xa9") << "UTF-8 stays";
}

TEST(Markdown, EscapesWhatEndsACell) {
  EXPECT_EQ(markdown_table({{"run", "x"}, {"a|b", "1\n2"}}),
            "| run | x |\n| --- | ---: |\n| a\\|b | 1 2 |\n");
}

/// Two rows of a sweep, the first with two seeds, and a run beside them.
class Exports : public ::testing::Test {
 protected:
  Exports() {
    for (const char* name : {"t/one-s1", "t/one-s2", "t/two-s1", "own"}) make_run(scratch_ / name);
    train::RunOptions config;
    config.peers = 2;
    config.graph = "ring";
    config.seed = 2;
    support::write_text(scratch_ / "t/one-s2/config.toml", config.to_toml());
    config.compressor = "topk:keep=0.5,value=f16";
    config.seed = 1;
    support::write_text(scratch_ / "t/two-s1/config.toml", config.to_toml());
    config.algorithm = "sgp";
    support::write_text(scratch_ / "own/config.toml", config.to_toml());
    support::write_text(scratch_ / "t/one-s2/metrics.jsonl",
                        R"({"round": 50, "accuracy_mean": 87.75, "bytes_total": 1})"
                        "\n");
    support::write_text(
        scratch_ / "t/t.sweep.json",
        R"({"v": 1, "title": "How much, \"kept\"", "source": "", "note": "", "quick": false,
          "banner": "", "differences": [], "figures": [
            {"name": "SP", "key": "accuracy_mean", "at": "end", "unit": "%", "digits": 2, "scale": 1},
            {"name": "n", "key": "bytes_total", "at": "end", "unit": "", "digits": 0, "scale": 1}],
          "rows": [
            {"label": "1 %", "place": {"row": "1 %", "graph": "ring"}, "runs": ["one-s1", "one-s2"],
             "printed": {"SP": 90.68}, "missing": ""},
            {"label": "50 %", "place": {"row": "50 %", "graph": "ring"}, "runs": ["two-s1"],
             "printed": {}, "missing": ""}]})");
    runs_ = read_runs(std::vector<std::string>{scratch_.path().string()});
  }

  Scratch scratch_;
  Runs runs_;
};

TEST_F(Exports, AsCsvHaveAllDigitsAndPlainNames) {
  const std::string csv = to_csv(runs_);
  EXPECT_TRUE(csv.starts_with(
      "table,name,n,axis_row,axis_graph,sp,sp_sd,sp_paper,n_2,n_2_sd,finished,"
      "setting_graph,setting_algorithm,setting_compressor,accuracy_mean,accuracy_min,bytes_total\n"
      "\"How much, \"\"kept\"\"\",1 %,2,1 %,ring,87.25,0.7071067811865476,90.68,6173,"))
      << csv;
  EXPECT_TRUE(holds(csv, "\n\"How much, \"\"kept\"\"\",50 %,1,50 %,ring,86.75,,,12345,,"))
      << "one seed has no deviation\n"
      << csv;
  EXPECT_TRUE(holds(csv, "\nruns,")) << csv;
  EXPECT_TRUE(holds(csv, ",1,ring,sgp,\"topk:keep=0.5,value=f16\",86.75,81.5,12345\n")) << csv;
  EXPECT_EQ(count(csv, "\n"), 4u);
}

TEST_F(Exports, AsLatexAndMarkdownHaveBothTables) {
  const std::string latex = to_latex(runs_);
  EXPECT_TRUE(holds(latex, "% How much, \"kept\"\n")) << latex;
  EXPECT_TRUE(holds(latex, "1 \\% & $87.25 \\pm 0.71$ & 90.68 & $-3.43$")) << latex;
  EXPECT_EQ(count(latex, "\\begin{tabular}"), 2u);
  EXPECT_EQ(count(latex, "\\end{tabular}"), 2u);
  const std::string markdown = to_markdown(runs_);
  EXPECT_TRUE(markdown.starts_with("### How much, \"kept\"\n")) << markdown;
  EXPECT_TRUE(holds(markdown, "| 1 % | 87.25 +- 0.71 | 90.68 | -3.43 |")) << markdown;
  EXPECT_TRUE(holds(markdown, "\n| run | accuracy % |")) << markdown;
}

TEST_F(Exports, AsJsonHaveTheFiguresOfTheSweep) {
  const auto json = nlohmann::json::parse(results_json(runs_));
  const auto& rows = json["sweeps"][0]["rows"];
  EXPECT_EQ(rows[0]["label"], "1 %");
  EXPECT_EQ(rows[0]["place"]["graph"], "ring");
  EXPECT_EQ(rows[0]["n"], 2);
  EXPECT_EQ(rows[0]["figures"]["SP"]["mean"], 87.25);
  EXPECT_DOUBLE_EQ(rows[0]["figures"]["SP"]["deviation"], std::sqrt(0.5));
  EXPECT_EQ(rows[0]["figures"]["SP"]["paper"], 90.68);
  EXPECT_FALSE(rows[1]["figures"]["SP"].contains("deviation")) << "one seed";
  EXPECT_EQ(json["runs"].size(), 3u);
}

TEST(Csv, OfAFieldThatHoldsItsMarksIsQuoted) {
  Scratch scratch;
  make_run(scratch / "a, \"b\"");
  const std::string csv =
      to_csv(read_runs(std::vector<std::string>{(scratch / "a, \"b\"").string()}));
  EXPECT_TRUE(holds(csv, "runs,\"" + scratch.path().string() + "/a, \"\"b\"\"\",1,1,")) << csv;
}

}  // namespace
}  // namespace hearsay::report
