#include "hearsay/report/run_figures.h"

#include <gtest/gtest.h>

#include "support/scratch.h"

namespace hearsay::report {
namespace {

using sweep::Figure;

/// A run of 10 rounds with 2 final ones, evaluated every 5: training loss 4, 3, 2, then 1.
class RunFigures : public ::testing::Test {
 protected:
  RunFigures() {
    support::write_text(scratch_ / "config.toml", train::RunOptions().to_toml());
    support::write_text(scratch_ / "summary.json", R"({"dim": 100, "training_rounds": 10})");
    support::write_text(scratch_ / "metrics.jsonl",
                        R"({"round": 0, "epoch": 0, "loss": 4, "bytes_total": 0, "edge_rounds": 0}
{"round": 5, "epoch": 1, "loss": 3, "bytes_total": 400, "paper_bytes_total": 800, "edge_rounds": 20}
{"round": 10, "epoch": 2, "loss": 2, "bytes_total": 800, "paper_bytes_total": 1600, "edge_rounds": 40}
{"round": 12, "epoch": 2, "loss": 1, "bytes_total": 1200, "paper_bytes_total": 2400, "edge_rounds": 48}
)");
  }
  std::optional<double> value(const Figure& figure) const {
    return figure_of(Record(scratch_.path()), figure);
  }
  support::Scratch scratch_;
};

TEST_F(RunFigures, AreReadAtTheirRound) {
  EXPECT_EQ(value({.name = "", .key = "loss"}), 1.0);
  EXPECT_EQ(value({.name = "", .key = "loss", .at = Figure::At::kTrained}), 2.0);
  EXPECT_EQ(value({.name = "", .key = "loss", .at = Figure::At::kRound, .round = 5}), 3.0);
  EXPECT_EQ(value({.name = "", .key = "loss", .at = Figure::At::kRound, .round = 6}), std::nullopt);
  EXPECT_EQ(value({.name = "", .key = "loss", .scale = 100}), 100.0);
  EXPECT_EQ(value({.name = "", .key = "accuracy_mean"}), std::nullopt);
}

TEST_F(RunFigures, OfAWindowAreMeansOverItsEvaluations) {
  const Figure figure{.name = "", .key = "loss", .window = 7, .squared = true};
  EXPECT_EQ(value(figure), (4.0 + 1.0) / 2) << "rounds 6 to 12";
  EXPECT_EQ(figure_at(Record(scratch_.path()), figure, 10), (9.0 + 4.0) / 2) << "rounds 4 to 10";
  EXPECT_EQ(figure_at(Record(scratch_.path()), figure, 5), 9.0)
      << "round 0 is before the first window";
}

TEST_F(RunFigures, CountBytesAMessageUntilThen) {
  const auto at_end = [&](const char* key) { return value({.name = "", .key = key}); };
  const auto trained = [&](const char* key) {
    return value({.name = "", .key = key, .at = Figure::At::kTrained});
  };
  EXPECT_EQ(at_end("bytes_per_edge_round"), 25.0);
  EXPECT_EQ(trained("bytes_per_edge_round"), 20.0);
  EXPECT_EQ(trained("paper_bytes_per_edge_round"), 40.0);
  EXPECT_EQ(trained("compression_factor"), 20.0);
  EXPECT_EQ(at_end("paper_compression_factor"), 8.0);
}

TEST_F(RunFigures, OfTheWholeRunAreInItsSummary) {
  const Figure memory{.name = "", .key = "peak_rss_bytes", .scale = 1e-6};
  EXPECT_EQ(value(memory), std::nullopt);
  support::write_text(scratch_ / "summary.json",
                      R"({"dim": 100, "peak_rss_bytes": 3000000, "seconds_per_round": 0.25})");
  EXPECT_EQ(value(memory), 3.0);
  EXPECT_EQ(value({.name = "", .key = "seconds_per_round", .window = 5}), 0.25);
}

TEST_F(RunFigures, OfRunsThatDoNotTellTheirRoundAreNone) {
  support::write_text(scratch_ / "summary.json", R"({"dim": 100})");
  EXPECT_EQ(value({.name = "", .key = "loss", .at = Figure::At::kTrained}), std::nullopt);
  support::write_text(scratch_ / "metrics.jsonl", "{\"round\": 1e30, \"loss\": 1}\n");
  EXPECT_EQ(value({.name = "", .key = "loss"}), std::nullopt);
}

TEST_F(RunFigures, ThatAreNotFiniteAreNone) {
  support::write_text(scratch_ / "metrics.jsonl",
                      "{\"round\": 1, \"loss\": null}\n{\"round\": 2, \"loss\": 5}\n");
  EXPECT_EQ(value({.name = "", .key = "loss"}), 5.0);
  EXPECT_EQ(value({.name = "", .key = "loss", .at = Figure::At::kRound, .round = 1}), std::nullopt);
  EXPECT_EQ(value({.name = "", .key = "loss", .window = 2}), std::nullopt);
}

TEST_F(RunFigures, OfSilentRunsHaveNoFactor) {
  support::write_text(scratch_ / "metrics.jsonl",
                      "{\"round\": 1, \"bytes_total\": 0, \"edge_rounds\": 0}\n");
  EXPECT_EQ(value({.name = "", .key = "bytes_per_edge_round"}), 0.0);
  EXPECT_EQ(value({.name = "", .key = "compression_factor"}), std::nullopt);
}

}  // namespace
}  // namespace hearsay::report
