#include <gtest/gtest.h>

#include "cli/process.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

/// What the README promises of `hearsay train` without settings.
TEST(DefaultRun, LearnsTheDigitsWithFewBytesAndShowsTheBenefitOfCommunication) {
  const support::Scratch scratch;
  const Result result = hearsay({"train"}, scratch.path());
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  for (const char* part :
       {"4 peers on sparse-push:a", "scsp with topk:keep=0.01",
        "\nfinal rounds: 20 without compression, about 3.18 MB or 62 % of all bytes",
        "\nno communication ", "\nuncompressed ", "run directory: runs/001\n"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " in\n" << result.out;
  }
  EXPECT_EQ(result.out.find('\r'), std::string::npos) << "no progress bar without a terminal";

  const auto run = scratch / "runs/001";
  const nlohmann::json summary = support::summary_of(run);
  const double mean = summary["accuracy_mean"];
  EXPECT_GE(mean, 95);
  EXPECT_GE(summary["compression_factor"], 40);
  EXPECT_LT(summary["mass_drift"], 1e-5);
  EXPECT_EQ(summary["class_counts"].size(), 4u);
  EXPECT_LT(support::summary_of(run / "compare/silence")["accuracy_mean"], mean - 5);
  EXPECT_GT(support::summary_of(run / "compare/full")["accuracy_mean"], mean - 1);

  const std::string page = support::read_text(run / "report.html");
  EXPECT_NE(page.find("This run beside two baselines"), std::string::npos);
  EXPECT_NE(page.find("Training samples of each class"), std::string::npos);
}

}  // namespace
}  // namespace hearsay::cli
