#include "hearsay/train/metrics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hearsay::train {
namespace {

using Json = nlohmann::json;

TEST(MetricsLine, LeavesOutWhatAProblemDoesNotHave) {
  Metrics m;
  m.round = 7;
  m.epoch = 0.5;
  const std::string line = to_json_line(m);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Json json = Json::parse(line);
  EXPECT_EQ(json["round"], 7);
  EXPECT_EQ(json["epoch"], 0.5);
  EXPECT_EQ(json["push_sum_min"], 1);
  for (const char* key :
       {"accuracy", "accuracy_mean", "validation_loss", "validation_accuracy_mean",
        "distance_to_optimum", "simulated_seconds", "push_sum"}) {
    EXPECT_FALSE(json.contains(key)) << key;
  }
}

TEST(MetricsLine, ReadsBackEveryDigit) {
  Metrics m;
  m.loss = 0.1 + 0.2;
  m.divergence = 1e-300;
  m.results.push_back({.metric = engine::kAccuracy,
                       .mean = 50,
                       .min = 12.5,
                       .max = 87.5,
                       .by_peer = {12.5, 87.5},
                       .validation_mean = 70,
                       .validation_averaged = 75});
  m.results.push_back({.metric = engine::kDistance, .mean = 1.0 / 3});
  m.validation_loss = 0.25;
  m.simulated_seconds = 4.25;
  m.traffic.bytes = 0xFFFFFFFFFFFFFFFF;
  m.traffic.global_bytes = 12;
  m.traffic.paper_bytes = 34;
  m.traffic.edge_rounds = 56;
  m.push_sum = {0.75, 1.25};
  m.mass_drift = 3e-8;
  const Json json = Json::parse(to_json_line(m));
  EXPECT_EQ(json["loss"].get<double>(), 0.1 + 0.2);
  EXPECT_EQ(json["divergence"].get<double>(), 1e-300);
  EXPECT_EQ(json["accuracy"], (std::vector<double>{12.5, 87.5}));
  EXPECT_EQ(json["accuracy_min"], 12.5);
  EXPECT_EQ(json["validation_loss"], 0.25);
  EXPECT_EQ(json["validation_accuracy_mean"], 70);
  EXPECT_EQ(json["validation_accuracy_of_average"], 75);
  EXPECT_EQ(json["distance_to_optimum"].get<double>(), 1.0 / 3);
  EXPECT_EQ(json["simulated_seconds"], 4.25);
  EXPECT_EQ(json["bytes_total"].get<std::uint64_t>(), 0xFFFFFFFFFFFFFFFF);
  EXPECT_EQ(json["global_bytes_total"], 12);
  EXPECT_EQ(json["paper_bytes_total"], 34);
  EXPECT_EQ(json["edge_rounds"], 56);
  EXPECT_EQ(json["push_sum"], (std::vector<double>{0.75, 1.25}));
  EXPECT_EQ(json["mass_drift"].get<double>(), 3e-8);
  const auto again = [](const Metrics& metrics) {
    return to_json_line(from_json_line(to_json_line(metrics), engine::known_metrics()).value());
  };
  EXPECT_EQ(again(m), to_json_line(m));
  EXPECT_EQ(again({}), to_json_line({}));
}

TEST(MetricsLine, ThatIsTheFirstSaysWhichMetricsThereAre) {
  Metrics m;
  m.results = {{.metric = engine::kDistance, .mean = 2}, {.metric = engine::kAccuracy, .mean = 3}};
  EXPECT_FALSE(Json::parse(to_json_line(m)).contains("metrics"));
  const Json json = Json::parse(to_json_line(m, true));
  ASSERT_EQ(json["metrics"].size(), 2u);
  EXPECT_EQ(json["metrics"][0]["key"], "distance");
  EXPECT_EQ(json["metrics"][0]["better"], "smaller");
  EXPECT_EQ(json["metrics"][1]["unit"], "%");
}

TEST(Metrics, AreFoundByTheirKey) {
  Metrics m;
  m.results = {{.metric = engine::kDistance, .mean = 2}};
  ASSERT_NE(m.find("distance"), nullptr);
  EXPECT_EQ(m.find("distance")->mean, 2);
  EXPECT_EQ(m.find("accuracy"), nullptr);
}

TEST(MetricsLine, ThatIsDamagedIsNone) {
  EXPECT_FALSE(from_json_line("", {}));
  EXPECT_FALSE(from_json_line("[1]", {}));
  EXPECT_FALSE(from_json_line(R"({"round": 3, "loss")", {}));
  EXPECT_TRUE(from_json_line(R"({"round": "x", "loss": null, "accuracy": [null]})",
                             engine::known_metrics()));
}

}  // namespace
}  // namespace hearsay::train
