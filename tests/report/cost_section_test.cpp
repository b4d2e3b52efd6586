#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hearsay/report/page/cost_panel.h"
#include "hearsay/run/run.h"
#include "report/run_directories.h"
#include "report/well_formed.h"

namespace hearsay::report {
namespace {

/// A run of four peers on the digits, and its summary, which a test may change.
class CostSection : public ::testing::Test {
 protected:
  void train(const std::string& precision) {
    run::Observer silent;
    run::run(support::config_of({{"model", "cnn:norm=range-evonorm"},
                                 {"precision", precision},
                                 {"batch", "8"},
                                 {"rounds", "3"}}),
             scratch_ / "run", silent);
    summary_ = nlohmann::json::parse(support::read_text(scratch_ / "run/summary.json"));
  }
  std::optional<CostPanel> panel() {
    support::write_text(scratch_ / "run/summary.json", summary_.dump());
    return cost_panel(Record(scratch_ / "run"));
  }
  std::string section() { return cost_section(panel().value(), ""); }

  support::Scratch scratch_;
  nlohmann::json summary_;
};

TEST_F(CostSection, CountsInThePrecisionOfTheRun) {
  train("int8");
  EXPECT_EQ(summary_["precision"], "int8");
  const CostPanel made = panel().value();
  ASSERT_EQ(made.devices.size(), 3u);
  EXPECT_EQ(made.devices[0].label, "1 device, 32 samples, int8");
  EXPECT_EQ(made.devices[1].label, "each of 4 peers, 8 samples, int8");
  EXPECT_EQ(made.devices[2].label, "each of 4 peers, 8 samples, fp32");
  const cost::Cost &int8 = made.devices[1].cost, &fp32 = made.devices[2].cost;
  EXPECT_EQ(int8.precision, backend::Precision::kInt8);
  EXPECT_LT(int8.activation_bytes, fp32.activation_bytes / 3.9);
  EXPECT_GT(int8.code_bytes, 0);
  EXPECT_EQ(int8.model_bytes, fp32.model_bytes);
  EXPECT_EQ(int8.sent_bytes, fp32.sent_bytes);

  const std::string html = section();
  EXPECT_EQ(misfit_of("<!DOCTYPE html>\n<html>" + html + "</html>"), "");
  EXPECT_EQ(count(html, "weighted by bits"), 1u);
  EXPECT_TRUE(holds(html, "8 bits count a quarter of 32"));
  const nlohmann::json data = nlohmann::json::parse(cost_json(made, "run-0-"));
  EXPECT_EQ(data["devices"][1]["model_bytes"], int8.model_bytes + int8.code_bytes);
  EXPECT_EQ(data["devices"][1]["multiply_adds"], int8.weighted_multiply_adds());
}

TEST_F(CostSection, OfARunInFloatsSaysNothingOfPrecisions) {
  train("fp32");
  for (const nlohmann::json& precision :
       {nlohmann::json("fp32"), nlohmann::json("fp9"), nlohmann::json(8), nlohmann::json()}) {
    summary_["precision"] = precision;
    const CostPanel made = panel().value();
    ASSERT_EQ(made.devices.size(), 2u) << precision;
    EXPECT_EQ(made.devices[1].label, "each of 4 peers, 8 samples");
    const std::string html = section();
    for (const char* word : {"fp32", "int8", "weighted"}) EXPECT_FALSE(holds(html, word)) << word;
  }
  summary_["precision"] = "tf32";
  EXPECT_TRUE(holds(section(), "each of 4 peers, 8 samples, tf32"));
}

TEST_F(CostSection, ShowsWhatTheRunTookBesideTheCounts) {
  train("fp32");
  EXPECT_GT(panel()->measured.round_seconds.value(), 0);
  EXPECT_GT(panel()->measured.resident_bytes.value(), 1e6) << "a process has that much";
  summary_["seconds_per_round"] = 0.0125;
  summary_["peak_rss_bytes"] = 67'800'000;
  std::string html = section();
  EXPECT_EQ(misfit_of("<!DOCTYPE html>\n<html>" + html + "</html>"), "");
  for (const char* part : {"<span>measured: all 4 peers in 1 process</span>", ">67.8 MB</td>",
                           ">12.5 ms</td>", ">time</th>"}) {
    EXPECT_TRUE(holds(html, part)) << part << " in\n" << html;
  }
  summary_["processes"] = 3;
  EXPECT_TRUE(holds(section(), "measured: 4 peers in 3 processes, memory of one"));
  summary_["device"] = "cuda";
  EXPECT_TRUE(holds(section(), "without the GPU&#39;s memory"));

  for (const nlohmann::json& nothing :
       {nlohmann::json(), nlohmann::json(0), nlohmann::json("soon"), nlohmann::json(-1)}) {
    summary_["seconds_per_round"] = nothing;
    html = section();
    EXPECT_FALSE(holds(html, ">time</th>")) << nothing;
    EXPECT_TRUE(holds(html, ">67.8 MB</td>"));
  }
  summary_["peak_rss_bytes"] = nullptr;
  EXPECT_FALSE(holds(section(), "measured"));
  summary_.erase("input");
  EXPECT_FALSE(panel().has_value()) << "it may not have trained a network";
}

}  // namespace
}  // namespace hearsay::report
