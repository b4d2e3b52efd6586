#include "hearsay/report/page/svg_chart.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/report/page/svg_axis.h"
#include "report/run_directories.h"
#include "report/well_formed.h"

namespace hearsay::report {
namespace {

using support::Scratch;

/// What is wrong with it as XML, or "".
std::string misfit_of_svg(const std::string& svg) { return misfit_of("<!DOCTYPE html>\n" + svg); }

const SvgPicture* find_picture(const std::vector<SvgPicture>& pictures, const std::string& name) {
  const auto found = std::ranges::find(pictures, name, &SvgPicture::name);
  return found == pictures.end() ? nullptr : &*found;
}

void make_seed(const std::filesystem::path& directory, std::uint64_t seed, double accuracy) {
  make_run(directory);
  train::RunOptions config;
  config.peers = 2;
  config.seed = seed;
  config.algorithm = "sgp";
  support::write_text(directory / "config.toml", config.to_toml());
  support::write_text(
      directory / "metrics.jsonl",
      fmt::format(R"({{"round": 0, "accuracy_mean": 10, "bytes_total": 0, "divergence": 0}})"
                  "\n"
                  R"({{"round": 50, "accuracy_mean": {}, "bytes_total": 100, "divergence": 1e-5}})"
                  "\n",
                  accuracy));
}

TEST(SvgPictures, StandAloneOnWhite) {
  Scratch scratch;
  make_run(scratch / "run");
  const auto pictures =
      svg_pictures(read_runs(std::vector<std::string>{(scratch / "run").string()}));
  for (const char* name : {"accuracy", "accuracy-bytes", "divergence", "bytes"}) {
    EXPECT_NE(find_picture(pictures, name), nullptr) << name;
  }
  for (const SvgPicture& picture : pictures) {
    EXPECT_EQ(misfit_of_svg(picture.svg), "") << picture.name;
    EXPECT_TRUE(picture.svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""));
    EXPECT_TRUE(holds(picture.svg, "fill=\"#ffffff\""));
    for (const char* outside : {"href", "url(", "<style", "<script", "var(", "nan", "inf"}) {
      EXPECT_FALSE(holds(picture.svg, outside)) << picture.name << ": " << outside;
    }
  }
  const std::string& accuracy = find_picture(pictures, "accuracy")->svg;
  for (const char* text :
       {">Rounds<", ">Test accuracy (%)<", ">peer 0<", ">peer 1<", ">mean of the peers<"}) {
    EXPECT_TRUE(holds(accuracy, text)) << text << "\n" << accuracy;
  }
  EXPECT_TRUE(holds(find_picture(pictures, "accuracy-bytes")->svg, "Bytes sent by all peers"));
}

TEST(SvgPictures, ShowMeanAndBandOfSeeds) {
  Scratch scratch;
  make_seed(scratch / "a", 1, 80);
  make_seed(scratch / "b", 2, 90);
  make_run(scratch / "c");
  const auto pictures = svg_pictures(read_runs(std::vector<std::string>{scratch.path().string()}));
  const SvgPicture* accuracy = find_picture(pictures, "accuracy");
  ASSERT_NE(accuracy, nullptr);
  EXPECT_EQ(misfit_of_svg(accuracy->svg), "");
  EXPECT_EQ(count(accuracy->svg, "Z\" fill=\"#3c489c\" fill-opacity=\"0.18\""), 1u) << "one band";
  EXPECT_EQ(count(accuracy->svg, ">sgp, 2 seeds<"), 1u) << "one entry for both";
  EXPECT_EQ(count(accuracy->svg, ">scsp<"), 1u);
}

TEST(SvgPictures, EscapeNamesOfFiles) {
  Scratch scratch;
  make_run(scratch / "a<b>&");
  make_run(scratch / "c\"d");
  const auto pictures = svg_pictures(read_runs(
      std::vector<std::string>{(scratch / "a<b>&").string(), (scratch / "c\"d").string()}));
  ASSERT_FALSE(pictures.empty());
  for (const SvgPicture& picture : pictures) EXPECT_EQ(misfit_of_svg(picture.svg), "");
  EXPECT_TRUE(holds(pictures.front().svg, "a&lt;b&gt;&amp;"));
}

TEST(SvgPictures, OfValuesThatCannotBeDrawnHaveGaps) {
  Scratch scratch;
  make_run(scratch / "run");
  support::write_text(scratch / "run/metrics.jsonl",
                      R"({"round": 0, "loss": null, "divergence": 0})"
                      "\n"
                      R"({"round": 5, "loss": 2, "divergence": 0})"
                      "\n"
                      R"({"round": 6, "loss": 1e308, "divergence": 0})"
                      "\n"
                      R"({"round": 7, "loss": 3, "divergence": 0})"
                      "\n");
  const auto pictures =
      svg_pictures(read_runs(std::vector<std::string>{(scratch / "run").string()}));
  const SvgPicture* loss = find_picture(pictures, "loss");
  ASSERT_NE(loss, nullptr);
  EXPECT_EQ(misfit_of_svg(loss->svg), "");
  EXPECT_EQ(count(loss->svg, "<circle"), 2u) << "two points alone";
  EXPECT_FALSE(holds(loss->svg, "nan"));
  EXPECT_EQ(find_picture(pictures, "divergence"), nullptr) << "only zeros";
}

TEST(SvgAxis, PutsTicksAtRoundNumbers) {
  const SvgAxis plain(0, 47, false, 0, 470);
  EXPECT_EQ(plain.ticks(), (std::vector<double>{0, 10, 20, 30, 40}));
  EXPECT_EQ(plain.pixel(20), 200);
  EXPECT_EQ(plain.pixel(500), 470) << "the end";
  const SvgAxis log(0.5, 2000, true, 100, 0);
  EXPECT_EQ(log.ticks().size(), 4u) << "1 to 1000";
  EXPECT_NEAR(log.pixel(1000), 100 - 100 * std::log10(2000) / std::log10(4000), 1e-9);
  EXPECT_FALSE(log.shows(0));
  EXPECT_FALSE(plain.shows(std::nan("")));
  EXPECT_EQ(plain.text(1e6, SvgAxis::Numbers::kBytes), "1 MB");
}

TEST(SvgAxis, OfOneValueHasAStretchAroundIt) {
  for (const bool log : {false, true}) {
    const SvgAxis axis(5, 5, log, 0, 100);
    EXPECT_NEAR(axis.pixel(5), 50, 1e-9) << log;
    EXPECT_GE(axis.ticks().size(), 2u);
  }
  EXPECT_GE(SvgAxis(0, 0, false, 0, 100).ticks().size(), 2u);
}

}  // namespace
}  // namespace hearsay::report
