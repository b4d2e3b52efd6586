#include "hearsay/train/sweep_figures.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "train/scratch.h"

namespace hearsay::train {
namespace {

/// A run of 10 rounds with 2 final ones, evaluated every 5: training loss 4, 3, 2, then 1.
class SweepFigures : public ::testing::Test {
 protected:
  SweepFigures() {
    write_text(scratch_ / "summary.json",
               R"({"dim": 100, "training_rounds": 10, "bytes_per_edge_round": 25.0})");
    write_text(scratch_ / "metrics.jsonl",
               R"({"round": 0, "epoch": 0, "loss": 4, "bytes_total": 0, "edge_rounds": 0}
{"round": 5, "epoch": 1, "loss": 3, "bytes_total": 400, "paper_bytes_total": 800, "edge_rounds": 20}
{"round": 10, "epoch": 2, "loss": 2, "bytes_total": 800, "paper_bytes_total": 1600, "edge_rounds": 40}
{"round": 12, "epoch": 2, "loss": 1, "bytes_total": 1200, "paper_bytes_total": 2400, "edge_rounds": 48}
)");
  }
  std::optional<double> value(const Figure& figure) const {
    return Curve(scratch_.path()).value(figure);
  }
  Scratch scratch_;
};

TEST_F(SweepFigures, AreReadAtTheirRound) {
  EXPECT_EQ(value({.name = "", .key = "loss"}), 1.0);
  EXPECT_EQ(value({.name = "", .key = "loss", .at = Figure::At::kTrained}), 2.0);
  EXPECT_EQ(value({.name = "", .key = "loss", .at = Figure::At::kRound, .round = 5}), 3.0);
  EXPECT_EQ(value({.name = "", .key = "loss", .at = Figure::At::kRound, .round = 6}), std::nullopt);
  EXPECT_EQ(value({.name = "", .key = "loss", .scale = 100}), 100.0);
  EXPECT_EQ(value({.name = "", .key = "accuracy_mean"}), std::nullopt);
}

TEST_F(SweepFigures, OfAWindowAreMeansOverItsEvaluations) {
  const Figure figure{.name = "", .key = "loss", .window = 7, .squared = true};
  EXPECT_EQ(value(figure), (4.0 + 1.0) / 2) << "rounds 6 to 12";
  EXPECT_EQ(Curve(scratch_.path()).value(figure, 10), (9.0 + 4.0) / 2) << "rounds 4 to 10";
  EXPECT_EQ(Curve(scratch_.path()).value(figure, 5), 9.0) << "round 0 is before the first window";
}

TEST_F(SweepFigures, CountBytesAMessageUntilThen) {
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

TEST_F(SweepFigures, OfRunsThatTellLessComeFromTheirSummary) {
  write_text(scratch_ / "summary.json", R"({"dim": 100, "bytes_per_edge_round": 25.0})");
  write_text(scratch_ / "metrics.jsonl",
             "{\"round\": 10, \"epoch\": 2, \"loss\": 2, \"bytes_total\": 1}\n"
             "{\"round\": 12, \"epoch\": 2, \"loss\": 1, \"bytes_total\": 2}\n");
  EXPECT_EQ(value({.name = "", .key = "loss", .at = Figure::At::kTrained}), 2.0)
      << "the epoch stands still";
  EXPECT_EQ(value({.name = "", .key = "bytes_per_edge_round"}), 25.0);
  EXPECT_EQ(value({.name = "", .key = "compression_factor"}), 16.0);
  EXPECT_EQ(value({.name = "", .key = "bytes_per_edge_round", .at = Figure::At::kTrained}),
            std::nullopt);
  EXPECT_EQ(value({.name = "", .key = "paper_bytes_per_edge_round"}), std::nullopt);
}

TEST_F(SweepFigures, OfSilentRunsHaveNoFactor) {
  write_text(scratch_ / "metrics.jsonl",
             "{\"round\": 1, \"bytes_total\": 0, \"edge_rounds\": 0}\n");
  EXPECT_EQ(value({.name = "", .key = "bytes_per_edge_round"}), 0.0);
  EXPECT_EQ(value({.name = "", .key = "compression_factor"}), std::nullopt);
}

TEST_F(SweepFigures, DamagedLinesAreNamedAndPassedOver) {
  write_text(scratch_ / "metrics.jsonl",
             "{\"round\": 1, \"loss\": 3}\n[1]\n{\"loss\": 7}\n{\"round\": 9, \"loss\": 5}\n"
             "{\"round\": 4, \"loss\": 8}\n{\"round\": 10, \"lo");
  const Curve curve(scratch_.path());
  EXPECT_EQ(curve.value({.name = "", .key = "loss"}), 5.0);
  const std::string file = "[sweep] " + (scratch_ / "metrics.jsonl").string();
  EXPECT_EQ(curve.problems(),
            (std::vector<std::string>{file + ", line 2: it is no JSON object",
                                      file + ", line 3: it has no round",
                                      file + ", line 5: round 4 stands behind round 9"}));
}

TEST_F(SweepFigures, DamagedFilesAreRefused) {
  write_text(scratch_ / "metrics.jsonl", "[1]\n");
  EXPECT_THROW(Curve{scratch_.path()}, CorruptData);
  std::string many = "{\"round\": 1}\n";
  for (int i = 0; i < 21; ++i) many += "[1]\n";
  write_text(scratch_ / "metrics.jsonl", many);
  EXPECT_THROW(Curve{scratch_.path()}, CorruptData);
  write_text(scratch_ / "metrics.jsonl", "");
  EXPECT_THROW(Curve{scratch_.path()}, CorruptData);
  write_text(scratch_ / "metrics.jsonl", "{\"round\": 1}\n");
  write_text(scratch_ / "summary.json", "3");
  EXPECT_THROW(Curve{scratch_.path()}, CorruptData);
}

TEST(FigureKeys, AreThoseOfALineAndTheirRatios) {
  const std::vector<std::string> keys = figure_keys();
  for (const char* key : {"accuracy_mean", "divergence_per_dim", "distance_to_optimum",
                          "bytes_total", "compression_factor", "paper_bytes_total"}) {
    EXPECT_EQ(std::ranges::count(keys, key), 1) << key;
  }
  EXPECT_EQ(std::ranges::count(keys, "accuracy"), 0) << "a list";
}

}  // namespace
}  // namespace hearsay::train
