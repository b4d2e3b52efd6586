#include "hearsay/run/summary.h"

#include <gtest/gtest.h>

#include <map>

#include "hearsay/graph/schedule.h"
#include "hearsay/run/run.h"
#include "support/world.h"

namespace hearsay::run {
namespace {

using Json = nlohmann::json;

TEST(Summary, HoldsEveryStableName) {
  support::Scratch scratch;
  Observer silent;
  run(support::config_of({{"rounds", "10"}}), scratch / "run", silent);
  const Json summary = support::summary_of(scratch / "run");
  for (const char* key : {"peers",
                          "dim",
                          "rounds",
                          "training_rounds",
                          "epochs",
                          "accuracy_mean",
                          "accuracy_min",
                          "accuracy_max",
                          "accuracy_of_average",
                          "train_loss",
                          "divergence",
                          "divergence_per_dim",
                          "bytes_total",
                          "bytes_by_peer",
                          "bytes_per_edge_round",
                          "paper_bytes_per_edge_round",
                          "compression_factor",
                          "mass_drift",
                          "push_sum_min",
                          "push_sum_max",
                          "seconds",
                          "seconds_per_round",
                          "samples_per_second",
                          "batch",
                          "input",
                          "classes",
                          "peak_rss_bytes",
                          "device",
                          "isa",
                          "precision",
                          "metrics",
                          "seed",
                          "config_hash",
                          "models_sha256",
                          "version"}) {
    EXPECT_TRUE(summary.contains(key)) << key;
  }
  EXPECT_EQ(summary["input"], "1x8x8");
  EXPECT_EQ(summary["classes"], 10);
  ASSERT_EQ(summary["metrics"].size(), 1u);
  EXPECT_EQ(summary["metrics"][0]["key"], "accuracy");
  EXPECT_EQ(summary["metrics"][0]["better"], "larger");
  EXPECT_EQ(summary["bytes_by_peer"].size(), summary["peers"]);
  EXPECT_GT(summary["train_loss"], 0) << "the final rounds of scsp take no gradient";
}

/// Three rounds of one ring, then two of another: edges of both, 24 + 40 bytes per message.
/// Who lies has no accuracy, and means are over the others; what is not conserved is not measured.
TEST(Summary, IsOfHonestPeers) {
  for (const char* timing : {"lock-step", "asynchronous"}) {
    support::Scratch scratch;
    Observer silent;
    run(support::config_of({{"rounds", "12"},
                            {"peers", "8"},
                            {"algorithm", "sgp"},
                            {"graph", "exponential"},
                            {"compressor", "identity"},
                            {"timing", timing},
                            {"robust", "clip"},
                            {"liars", "constant:at=2+7"}}),
        scratch / "run", silent);
    const Json summary = support::summary_of(scratch / "run");
    EXPECT_EQ(summary["liars"], Json({2, 7}));
    EXPECT_TRUE(summary["mass_drift"].is_null());
    EXPECT_EQ(summary["bytes_by_peer"].size(), 8u);
    EXPECT_GT(summary["bytes_by_peer"][2], 0);
    std::istringstream lines(support::read_text(scratch / "run" / "metrics.jsonl"));
    Json last;
    for (std::string line; std::getline(lines, line);) last = Json::parse(line);
    double sum = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(last["accuracy"][i].is_null(), i == 2 || i == 7) << i;
      if (!last["accuracy"][i].is_null()) sum += last["accuracy"][i].get<double>();
    }
    EXPECT_NEAR(summary["accuracy_mean"], sum / 6, 1e-9);
  }
}

TEST(Summary, TellsTheBytesOfEachEdgeOfAGraphThatChanges) {
  support::Scratch scratch;
  const train::RunOptions config =
      support::config_of({{"algorithm", "sgp"},
                          {"data", "least-squares"},
                          {"graph", "cycle:sparse-push:a+sparse-push:b,every=3"},
                          {"rounds", "5"}});
  struct : Observer {
    bool stop = false;
    void progressed(const train::RunView& run) override { stop = run.round() == 4; }
    bool stop_requested() override { return stop; }
  } stops;
  EXPECT_FALSE(run(config, scratch / "run", stops).finished);
  Observer silent;
  resume(scratch / "run", 1, silent);
  const Json edges = support::summary_of(scratch / "run")["bytes_by_edge"];
  std::map<std::pair<int, int>, int> rounds;  // of each edge, from the graphs themselves
  for (const auto& [spec, count] : {std::pair("sparse-push:a", 3), {"sparse-push:b", 2}}) {
    const auto ring = graph::make_schedule(spec, {.peers = 4});
    for (const graph::Edge& edge : ring->at(0, 0).edges()) {
      rounds[{static_cast<int>(edge.sender), static_cast<int>(edge.receiver)}] += count;
    }
  }
  ASSERT_EQ(edges.size(), rounds.size());
  for (const Json& edge : edges) EXPECT_EQ(edge[2], 64 * (rounds[{edge[0], edge[1]}])) << edge;
}

// d = 10: a full message is 24 + 40 bytes, and 4d = 40.
TEST(Summary, TheCompressionFactorCountsFinalFullRounds) {
  support::Scratch scratch;
  Observer silent;
  run(support::quadratics({{"algorithm", "dsgd"}, {"rounds", "4"}}), scratch / "full", silent);
  Json summary = support::summary_of(scratch / "full");
  EXPECT_DOUBLE_EQ(summary["compression_factor"], 40.0 / 64);
  EXPECT_DOUBLE_EQ(summary["bytes_per_edge_round"], 64);
  EXPECT_EQ(summary["bytes_total"], 4 * 10 * 64);

  run(support::quadratics({{"algorithm", "scsp:eta=0.1,final=4"}, {"rounds", "4"}}),
      scratch / "scsp", silent);
  run(support::quadratics({{"algorithm", "sparse-push:eta=0.1"}, {"rounds", "4"}}), scratch / "sp",
      silent);
  summary = support::summary_of(scratch / "scsp");
  const double compressed = support::summary_of(scratch / "sp")["bytes_per_edge_round"];
  EXPECT_EQ(summary["rounds"], 8);
  EXPECT_DOUBLE_EQ(summary["bytes_per_edge_round"], (compressed + 64) / 2);
  EXPECT_DOUBLE_EQ(summary["compression_factor"], 40 / ((compressed + 64) / 2));
  EXPECT_DOUBLE_EQ(summary["paper_bytes_per_edge_round"], (6 * 1 + 3 + 4 * 11) / 2.0);
}

}  // namespace
}  // namespace hearsay::run
