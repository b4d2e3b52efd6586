/// `--task regression` from the files of a user to the pages of a run.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "cli/process.h"
#include "data/files.h"
#include "hearsay/core/random.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;
using support::lasting, support::summary_of;

/// 400 homes: price = 2500 area - 800 age + noise of deviation 5000, and a rent of 0.3 %.
struct Homes {
  Homes() {
    Random random(1, Purpose::kTest);
    for (int i = 0; i < 400; ++i) {
      const double area = 30 + 170 * random.uniform(), age = 80 * random.uniform();
      const double price = 2500 * area - 800 * age + 5000 * random.normal();
      features.insert(features.end(), {area, age});
      prices.push_back(price);
    }
  }
  std::string csv() const {
    std::string text = "area,price,age,rent\n";
    for (std::size_t i = 0; i < prices.size(); ++i) {
      text += fmt::format("{:.1f},{:.0f},{:.1f},{:.2f}\n", features[2 * i], prices[i],
                          features[2 * i + 1], 0.003 * prices[i]);
    }
    return text;
  }
  Bytes npz() const {
    return data::zip({{"x.npy", data::npy("<f8", "(400, 2)", features)},
                      {"y.npy", data::npy("<f8", "(400,)", prices)}},
                     true);
  }

  std::vector<double> features, prices;
};

class Regression : public ::testing::Test {
 protected:
  Regression() {
    support::write_text(scratch_ / "homes.csv", Homes().csv());
    data::write_bytes(scratch_ / "homes.npz", Homes().npz());
  }

  /// Trains into `out` and checks that everything that is shown is of a regression.
  nlohmann::json train(const std::string& data, const std::string& out, const Words& more = {}) {
    Words arguments{"train", "--task", "regression", "--data", data, "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = hearsay(arguments, scratch_.path());
    EXPECT_EQ(result.status, 0) << result.err;
    for (const std::string& text :
         {result.out, result.err, support::read_text(scratch_ / (out + "/report.html")),
          support::read_text(scratch_ / (out + "/summary.json")),
          support::read_text(scratch_ / (out + "/metrics.jsonl"))}) {
      EXPECT_EQ(text.find("ccuracy"), std::string::npos) << text;
    }
    EXPECT_NE(result.out.find(" RMSE "), std::string::npos) << result.out;
    EXPECT_NE(result.out.find(" R2 "), std::string::npos) << result.out;
    const std::string page = support::read_text(scratch_ / (out + "/report.html"));
    EXPECT_NE(page.find("Test RMSE"), std::string::npos);
    EXPECT_NE(page.find("Test R2"), std::string::npos);
    return summary_of(scratch_ / out);
  }

  support::Scratch scratch_;
};

TEST_F(Regression, LearnsATableWithDefaultSettings) {
  const nlohmann::json summary = train("csv:homes.csv,target=price", "run");
  EXPECT_GT(summary["r2_of_average"], 0.95);
  EXPECT_GT(summary["rmse_of_average"], 4000) << "in the unit of the target, above its noise";
  EXPECT_LT(summary["rmse_of_average"], 25000);
  EXPECT_EQ(summary["outputs"], 1);
  ASSERT_EQ(summary["target_mean"].size(), 1u);
  EXPECT_NEAR(summary["target_mean"][0], 2500 * 115 - 800 * 40, 20000);
  EXPECT_NEAR(summary["target_deviation"][0], 2500 * 170 / std::sqrt(12), 15000);
  EXPECT_FALSE(summary.contains("classes"));
  EXPECT_FALSE(summary.contains("class_counts"));
}

TEST_F(Regression, LearnsSeveralTargetsAtOnce) {
  const nlohmann::json summary = train("csv:homes.csv,target=price+rent", "run",
                                       {"--model", "linear", "--algorithm", "dsgd", "--partition",
                                        "dirichlet:0.5", "--loss", "huber:delta=2"});
  EXPECT_GT(summary["r2_mean"], 0.97);
  EXPECT_EQ(summary["outputs"], 2);
  EXPECT_EQ(summary["dim"], 2 * 2 + 2);
}

TEST_F(Regression, LearnsArraysAndSynthesizedImages) {
  EXPECT_GT(
      train("npz:homes.npz", "arrays", {"--algorithm", "dsgd", "--model", "linear"})["r2_mean"],
      0.97);
  EXPECT_GT(train("synthetic:shape=1x6x6,samples=300,noise=0.3", "images",
                  {"--algorithm", "dsgd", "--epochs", "10", "--model", "cnn"})["r2_mean"],
            0.6);
}

TEST_F(Regression, IsEvaluatedAndShownInTables) {
  const nlohmann::json summary =
      train("csv:homes.csv,target=price", "run", {"--epochs", "3", "--model", "linear"});
  const Result eval = hearsay({"eval", "run/models/average.safetensors"}, scratch_.path());
  ASSERT_EQ(eval.status, 0) << eval.err;
  EXPECT_NE(eval.out.find(
                fmt::format("\nRMSE{:19}{:.6g}\n", "", summary["rmse_of_average"].get<double>())),
            std::string::npos)
      << eval.out;
  EXPECT_NE(eval.out.find("\nR2 "), std::string::npos) << eval.out;
  fs::copy(scratch_ / "run/models/average.safetensors", scratch_ / "alone.safetensors");
  EXPECT_EQ(hearsay({"eval", "alone.safetensors", "--data", "csv:homes.csv,target=price",
                     "--predictions", "prices.csv"},
                    scratch_.path())
                .out,
            eval.out);
  std::istringstream lines(support::read_text(scratch_ / "prices.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "price,predicted price");
  double squares = 0, count = 0;
  for (; std::getline(lines, line); ++count) {
    const std::size_t comma = line.find(',');
    const double off = std::stod(line) - std::stod(line.substr(comma + 1));
    squares += off * off;
  }
  const double rmse = summary["rmse_of_average"];
  EXPECT_NEAR(std::sqrt(squares / count), rmse, 1e-4 * rmse) << "in the target's own unit";
  const Result report = hearsay({"report", "run"}, scratch_.path());
  ASSERT_EQ(report.status, 0) << report.err;
  EXPECT_NE(report.out.find("RMSE"), std::string::npos) << report.out;
  EXPECT_EQ(report.out.find("ccuracy"), std::string::npos) << report.out;
}

TEST_F(Regression, ResumesToTheSameModels) {
  const auto into = [](const std::string& out) -> Words {
    return {"train",   "--task",       "regression", "--data", "csv:homes.csv,target=price",
            "--model", "mlp:hidden=8", "--rounds",   "1500",   "--evaluate",
            "150",     "--out",        out};
  };
  ASSERT_EQ(hearsay(into("whole"), scratch_.path()).status, 0);
  Child child(into("cut"), scratch_.path(), scratch_ / "said", scratch_ / "errors");
  const auto evaluations = [&] {
    return std::ranges::count(support::read_text(scratch_ / "cut/metrics.jsonl"), '\n');
  };
  while (evaluations() < 2 && !child.ended()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  child.signal(SIGINT);
  child.wait();
  ASSERT_FALSE(fs::exists(scratch_ / "cut/summary.json")) << "it ended before it was stopped";
  const Result resumed = hearsay({"train", "--resume", "cut"}, scratch_.path());
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(lasting(summary_of(scratch_ / "cut")), lasting(summary_of(scratch_ / "whole")));
  EXPECT_EQ(support::metrics_of(scratch_ / "cut"), support::metrics_of(scratch_ / "whole"));
}

TEST_F(Regression, SaysWhatIsWrong) {
  const auto message = [&](Words arguments) {
    arguments.insert(arguments.begin(), {"train", "--out", "run"});
    const Result result = hearsay(arguments, scratch_.path());
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_EQ(message({"--task", "regression"}),
            "hearsay: [digits] has classes, not numbers to predict; --task regression needs one of "
            "synthetic, npz, csv\n");
  EXPECT_EQ(
      message({"--data", "csv:homes.csv,target=price"}),
      "hearsay: [csv] target names numbers to predict; add --task regression, or name a class "
      "with label=COLUMN\n");
  EXPECT_EQ(message({"--data", "csv:homes.csv,target=price", "--task", "regression", "--loss",
                     "cross-entropy"}),
            "hearsay: [loss] cross-entropy is for --task classification; this run's is regression, "
            "use --loss mse\n");
}

}  // namespace
}  // namespace hearsay::cli
