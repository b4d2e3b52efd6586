#include "hearsay/gossip/learning_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>

#include "hearsay/core/error.h"

namespace hearsay::gossip {

void PrintTo(const LearningRateEntry& entry, std::ostream* out) { *out << entry.name; }

namespace {

double rate_at(const char* spec, double epoch, double total = 200) {
  return make_learning_rate(spec)->at(epoch, total);
}

std::string message_of(const char* spec) {
  try {
    make_learning_rate(spec);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

/// Every schedule of the registry fulfils the contract in learning_rate.h.
class LearningRateContract : public ::testing::TestWithParam<LearningRateEntry> {};

TEST_P(LearningRateContract, IsPositiveAndNeverAboveTheRate) {
  for (const char* options : {"0.1", "0.1,warmup=2.5"}) {
    const auto rate = make_learning_rate(std::string(GetParam().name) + ":" + options);
    for (double epoch = 0; epoch < 200; epoch += 0.25) {
      EXPECT_GT(rate->at(epoch, 200), 0) << epoch;
      EXPECT_LE(rate->at(epoch, 200), 0.1) << epoch;
    }
  }
}

TEST_P(LearningRateContract, WarmsUpAlongALineFromATenth) {
  const std::string name(GetParam().name);
  const auto cold = make_learning_rate(name + ":0.1");
  const auto warm = make_learning_rate(name + ":0.1,warmup=4");
  EXPECT_DOUBLE_EQ(warm->at(0, 200), 0.1 * cold->at(0, 200));
  EXPECT_DOUBLE_EQ(warm->at(2, 200), 0.55 * cold->at(2, 200));
  EXPECT_DOUBLE_EQ(warm->at(4, 200), cold->at(4, 200));
  EXPECT_DOUBLE_EQ(warm->at(99, 200), cold->at(99, 200));
}

TEST_P(LearningRateContract, WarmsUpForAPartOfTheRun) {
  const std::string name(GetParam().name);
  const auto epochs = make_learning_rate(name + ":0.1,warmup=4");
  const auto part = make_learning_rate(name + ":0.1,warmup=2%");
  for (double epoch = 0; epoch < 10; epoch += 0.5) {
    EXPECT_DOUBLE_EQ(part->at(epoch, 200), epochs->at(epoch, 200)) << epoch;
  }
  EXPECT_EQ(make_learning_rate(name + ":0.1,warmup=0%")->at(0, 200), 0.1);
}

TEST_P(LearningRateContract, MakesItsExample) {
  EXPECT_GT(make_learning_rate(GetParam().example)->at(0, 200), 0);
}

INSTANTIATE_TEST_SUITE_P(Registry, LearningRateContract,
                         ::testing::ValuesIn(learning_rate_registry()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(LearningRate, OfAPlainNumberIsConstant) {
  EXPECT_EQ(rate_at("0.25", 0), 0.25);
  EXPECT_EQ(rate_at("0.25", 199), 0.25);
  EXPECT_EQ(rate_at("1e-3", 7), 1e-3);
  EXPECT_DOUBLE_EQ(rate_at("0.1,warmup=10", 5), 0.055);
}

TEST(LearningRate, StepsDownWhereTold) {
  EXPECT_DOUBLE_EQ(rate_at("steps:0.1,at=100+150,factor=0.1", 99.99), 0.1);
  EXPECT_DOUBLE_EQ(rate_at("steps:0.1,at=100+150,factor=0.1", 100), 0.01);
  EXPECT_DOUBLE_EQ(rate_at("steps:0.1,at=100+150,factor=0.1", 149.9), 0.01);
  EXPECT_DOUBLE_EQ(rate_at("steps:0.1,at=100+150,factor=0.1", 150), 0.001);
  EXPECT_DOUBLE_EQ(rate_at("steps:2,at=0.5,factor=0.25", 0.5), 0.5);
}

TEST(LearningRate, HalvesEveryFewEpochs) {
  EXPECT_DOUBLE_EQ(rate_at("halve:0.08,every=30", 29.9), 0.08);
  EXPECT_DOUBLE_EQ(rate_at("halve:0.08,every=30", 30), 0.04);
  EXPECT_DOUBLE_EQ(rate_at("halve:0.08,every=30", 95), 0.01);
}

TEST(LearningRate, FollowsHalfACosine) {
  EXPECT_DOUBLE_EQ(rate_at("cosine:0.1", 0), 0.1);
  EXPECT_DOUBLE_EQ(rate_at("cosine:0.1", 100), 0.05);
  EXPECT_NEAR(rate_at("cosine:0.1", 50), 0.1 * (1 + std::sqrt(0.5)) / 2, 1e-15);
  EXPECT_NEAR(rate_at("cosine:0.1", 200), 0, 1e-15);
}

TEST(LearningRate, SaysWhatIsWrong) {
  EXPECT_EQ(message_of("-0.1"), "[constant] rate must be in [0, inf), got -0.1");
  EXPECT_EQ(message_of("0.1x"), "[constant] rate must be in [0, inf), got 0.1x");
  EXPECT_EQ(message_of("cosine:0.1,warmup=-1"),
            "[cosine] warmup must be epochs in [0, inf), or a part of the run such as 5%, got -1");
  for (const char* warmup : {"101%", "-1%", "%", "5%%", "nan", "1e400", "x"}) {
    EXPECT_NE(message_of((std::string("cosine:0.1,warmup=") + warmup).c_str()), "no error")
        << warmup;
  }
  EXPECT_EQ(message_of("halve:0.1,every=0"), "[halve] every must be in (0, inf), got 0");
  for (const char* at : {"150+100", "100+100", "100+", "+5", "a", "0", "-3", "1;2", "inf"}) {
    EXPECT_EQ(message_of(("steps:0.1,at=" + std::string(at)).c_str()),
              "[steps] at must be ascending epochs > 0 joined by '+', such as 100+150, got " +
                  std::string(at));
  }
  EXPECT_EQ(message_of("cosin:0.1"),
            "[learning rate schedule] no learning rate schedule is named 'cosin' (did you mean "
            "'cosine'?); there are constant, steps, halve, cosine");
}

/// A list is no rate: the second number would be taken for the epochs of warm-up.
TEST(LearningRate, IsOneNumberOrASchedule) {
  EXPECT_EQ(message_of("0.1,0.2"),
            "[learning rate] '0.1,0.2' is several numbers; give one, or a schedule as "
            "steps:0.1,at=100+150");
  EXPECT_EQ(rate_at("0.1,warmup=5", 5), 0.1);
  EXPECT_EQ(rate_at("cosine:0.1,5", 5, 1e9), rate_at("cosine:0.1,warmup=5", 5, 1e9));
}

}  // namespace
}  // namespace hearsay::gossip
