#include "hearsay/report/run_names.h"

#include <gtest/gtest.h>

namespace hearsay::report {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;
using Names = std::vector<std::string>;

Names names_with(const std::vector<Settings>& all) {
  std::vector<train::RunOptions> configs;
  for (const Settings& settings : all) {
    train::RunOptions& config = configs.emplace_back();
    for (const auto& [key, value] : settings) config.set(key, value);
  }
  return names_of(configs);
}

TEST(NamesOfRuns, AreWhatDiffers) {
  EXPECT_EQ(names_with({{{"algorithm", "sgp"}, {"compressor", "identity"}},
                        {{"algorithm", "sparse-push"}, {"compressor", "topk:keep=0.01"}},
                        {{"algorithm", "sparse-push"}, {"compressor", "topk:keep=0.1"}}}),
            (Names{"sgp", "sparse-push keep=0.01", "sparse-push keep=0.1"}));
  EXPECT_EQ(names_with({{{"lr", "0.1"}}, {{"lr", "cosine:0.1"}}}),
            (Names{"lr=0.1", "lr=cosine:0.1"}));
  EXPECT_EQ(names_with({{{"peers", "4"}}, {{"peers", "8"}}}), (Names{"peers=4", "peers=8"}));
}

TEST(NamesOfRuns, LeaveOutWhatFollowsFromTheRest) {
  EXPECT_EQ(names_with({{{"algorithm", "dsgd"}, {"graph", "ring"}, {"lr", "0.05"}},
                        {{"algorithm", "sgp"}, {"graph", "ring:directed"}, {"lr", "0.1"}}}),
            (Names{"dsgd", "sgp"}));
  EXPECT_EQ(names_with({{{"algorithm", "dsgd"}, {"lr", "0.05"}},
                        {{"algorithm", "dsgd"}, {"lr", "0.1"}},
                        {{"algorithm", "sgp"}, {"lr", "0.1"}}}),
            (Names{"dsgd lr=0.05", "dsgd lr=0.1", "sgp lr=0.1"}));
}

TEST(NamesOfRuns, HoldWhatIsNoNumberOfASpecAsItStands) {
  EXPECT_EQ(names_with({{{"graph", "torus:4x4"}}, {{"graph", "torus:2x8"}}}),
            (Names{"4x4", "2x8"}));
  EXPECT_EQ(names_with({{{"compressor", "topk"}}, {{"compressor", "topk:keep=0.1"}}}),
            (Names{"topk", "keep=0.1"}))
      << "what has no part of its own is named by the spec";
}

TEST(NamesOfRuns, AreOfTheAlgorithmWhereNothingDiffers) {
  EXPECT_EQ(names_with({{{"algorithm", "sgp"}, {"seed", "1"}},
                        {{"algorithm", "sgp"}, {"seed", "2"}, {"threads", "3"}}}),
            (Names{"sgp", "sgp"}));
  EXPECT_TRUE(names_with({}).empty());
}

TEST(SettingOf, IsTheSameForOtherSeedsAndThreads) {
  train::RunOptions a, b;
  b.seed = 7;
  b.threads = 3;
  b.checkpoint = 10;
  EXPECT_EQ(setting_of(a), setting_of(b));
  b.lr = "0.3";
  EXPECT_NE(setting_of(a), setting_of(b));
}

}  // namespace
}  // namespace hearsay::report
