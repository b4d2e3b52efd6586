#include "hearsay/run/diagnosis.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hearsay/run/run.h"
#include "support/world.h"

namespace hearsay::run {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kRounds = 2000;

/// An evaluation of a classification: the accuracy of each peer.
train::Metrics at(std::uint64_t round, std::vector<double> accuracies, double loss = 1,
                  double distance = 1) {
  train::Metrics m;
  m.round = round;
  m.loss = loss;
  m.divergence = round == 0 ? 0 : distance;
  double sum = 0, count = 0;
  for (const double accuracy : accuracies) {
    if (!std::isfinite(accuracy)) continue;
    sum += accuracy;
    ++count;
  }
  m.results.push_back(
      {.metric = engine::kAccuracy, .mean = sum / count, .by_peer = std::move(accuracies)});
  return m;
}

train::Metrics at_r2(std::uint64_t round, double r2) {
  train::Metrics m;
  m.round = round;
  m.loss = 1;
  m.results.push_back({.metric = engine::kR2, .mean = r2, .by_peer = {r2, r2}});
  return m;
}

struct Case {
  std::vector<train::Metrics> evaluations;
  std::string settings{};  ///< TOML
  Circumstances of{.training_rounds = kRounds, .averaging_rate = 0.005, .commonest = 10};
};

std::vector<Warning> diagnose(const Case& run) {
  train::RunOptions options;
  options.read_toml(run.settings, "test");
  Diagnosis diagnosis(train::resolve(options), run.of);
  for (const train::Metrics& evaluation : run.evaluations) diagnosis.see(evaluation);
  return diagnosis.warnings();
}

std::vector<std::string> kinds(const Case& run) {
  std::vector<std::string> all;
  for (const Warning& warning : diagnose(run)) all.push_back(warning.kind);
  return all;
}

using Kinds = std::vector<std::string>;

TEST(Diagnosis, SaysNothingOfRunsThatLearn) {
  const Case learns{{at(0, {10, 10}), at(500, {60, 80}), at(1000, {85, 80}), at(2000, {95, 94}),
                     at(2020, {96, 96})}};
  EXPECT_EQ(kinds(learns), Kinds());
  const Case skewed_at_first{{at(0, {10, 10}), at(100, {60, 20}), at(200, {30, 60}),
                              at(1500, {80, 75}), at(2000, {85, 80})}};
  EXPECT_EQ(kinds(skewed_at_first), Kinds()) << "peers of other classes swing early";
  const Case swings{{at(0, {20, 20}), at(900, {45, 40}), at(1100, {12, 40}), at(2000, {95, 95})}};
  EXPECT_EQ(kinds(swings), Kinds()) << "that was little of what it learnt";
  const Case hard{{at(0, {10}), at(1000, {14}), at(2000, {16})}};
  EXPECT_EQ(kinds(hard), Kinds()) << "little, but more than chance";
  const Case hundred{{at(0, {1}), at(2000, {2})}, "", {.training_rounds = 2000, .commonest = 1}};
  EXPECT_EQ(kinds(hundred), Kinds());
  EXPECT_EQ(kinds({}), Kinds()) << "of a run without evaluations";
  const Case peak{{at(0, {10, 10}, 2.3, 0), at(100, {50, 50}, 1, 5), at(600, {80, 80}, 1, 9),
                   at(2000, {90, 90}, 1, 8), at(2020, {90, 90}, 1, 0.001)}};
  EXPECT_EQ(kinds(peak), Kinds()) << "a consensus distance has a plateau";
}

TEST(Diagnosis, WarnsOfChance) {
  const Case run{{at(0, {10, 10}), at(1000, {10, 12}), at(2000, {10.5, 9.9})}};
  const std::vector<Warning> warnings = diagnose(run);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].text(),
            "the peers have learnt nothing: their mean accuracy is 10.20 %, and naming the most "
            "frequent class always gives about 10.00 %; try --lr cosine:0.01, or --compressor "
            "topk:keep=0.1");
}

TEST(Diagnosis, SuggestsADefenceAgainstLiars) {
  Case run{{at(0, {10, kNone}), at(2000, {10.5, kNone})},
           "algorithm = 'sgp'\nliars = 'constant:at=1'\npeers = 4"};
  ASSERT_EQ(kinds(run), Kinds{"chance"});
  EXPECT_EQ(diagnose(run)[0].advice,
            "a defence against those who lie (--robust clip), or --lr cosine:0.01");
  run.settings += "\nrobust = 'clip'";
  EXPECT_EQ(diagnose(run)[0].advice, "--lr cosine:0.01");
}

TEST(Diagnosis, ChanceIsTheMostFrequentClass) {
  Case run{{at(0, {50}), at(2000, {90.2})}};
  run.of.commonest = 90;
  EXPECT_EQ(kinds(run), Kinds{"chance"});
  run.evaluations.back() = at(2000, {93});
  EXPECT_EQ(kinds(run), Kinds());
}

TEST(Diagnosis, AFewRoundsMayEndAtChance) {
  Case run{{at(0, {10}), at(3, {10})}};
  run.of.training_rounds = 3;
  EXPECT_EQ(kinds(run), Kinds());
  run.of.training_rounds = Diagnosis::kFewRounds;
  run.evaluations.back() = at(Diagnosis::kFewRounds, {10});
  ASSERT_EQ(kinds(run), Kinds{"chance"});
  EXPECT_TRUE(diagnose(run)[0].advice.starts_with("longer training (--rounds 1000), or "));
}

TEST(Diagnosis, WarnsOfARegressionThatIsNoBetterThanTheMean) {
  Case run{{at_r2(0, -0.2), at_r2(2000, -0.001)}, "data = 'synthetic'\ntask = 'regression'"};
  run.of.commonest.reset();
  ASSERT_EQ(kinds(run), Kinds{"chance"});
  EXPECT_TRUE(
      diagnose(run)[0].what.ends_with("their mean R2 is -0.001, that of predicting the "
                                      "mean is 0"))
      << diagnose(run)[0].what;
  run.evaluations.back() = at_r2(2000, 0.1);
  EXPECT_EQ(kinds(run), Kinds());
}

TEST(Diagnosis, WarnsOfAPeerThatFallsBack) {
  Case run{{at(0, {10, 10}), at(1900, {95, 94}), at(2000, {95, 14.08})}};
  std::vector<Warning> warnings = diagnose(run);
  ASSERT_EQ(warnings.size(), 1u) << "not that it is behind, too";
  EXPECT_EQ(warnings[0].kind, "fell-back");
  EXPECT_EQ(warnings[0].what,
            "peer 1 fell back to 14.08 % in round 2000, from 94.00 % in round 1900");
  run.settings = "lr = '0.1'";
  EXPECT_TRUE(
      diagnose(run)[0].advice.starts_with("a rate that decays (--lr cosine:0.1), or --lr "
                                          "0.03, or a smaller averaging rate (--algorithm "
                                          "scsp:eta=0.0015)"))
      << diagnose(run)[0].advice;
  run.settings = "lr = '0.1'\nalgorithm = 'extra'";
  EXPECT_EQ(diagnose(run)[0].advice, "--lr 0.03") << "extra is made for a constant rate";
  run = {{at(0, {10, 10}), at(1500, {95, 94}), at(1700, {15, 94}), at(2000, {95, 95})}};
  warnings = diagnose(run);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].what,
            "peer 0 fell back to 15.00 % in round 1700, from 95.00 % in round 1500, and ended at "
            "95.00 %");
}

TEST(Diagnosis, WarnsOfAPeerFarBehindTheOthersUnlessTheyDoNotTalk) {
  Case run{{at(0, {10, 10, 10}), at(2000, {90, 30, 88})}};
  ASSERT_EQ(kinds(run), Kinds{"behind"});
  EXPECT_EQ(diagnose(run)[0].what,
            "peer 1 is far behind the others: it ends at 30.00 %, the median peer at 88.00 %");
  run.settings = "algorithm = 'silent'";
  EXPECT_EQ(kinds(run), Kinds());
  run = {{at(0, {10, 10, 10}), at(2000, {90, kNone, 88})}};
  EXPECT_EQ(kinds(run), Kinds()) << "who lies or is dead has no figures";
}

TEST(Diagnosis, WarnsOfPeersThatDriftApart) {
  Case run{{at(0, {10, 10}, 2.3), at(300, {50, 50}, 2, 0.5), at(600, {50, 50}, 2, 0.8),
            at(1900, {50, 52}, 2, 20), at(2000, {50, 50}, 2, 30)}};
  const std::vector<Warning> warnings = diagnose(run);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].text(),
            "the peers drift apart: the consensus distance is 30 in round 2000, and was at most "
            "0.8 in the first third; try a smaller averaging rate (--algorithm scsp:eta=0.0015), "
            "or --compressor topk:keep=0.1, or --lr cosine:0.03");
  run.settings = "algorithm = 'silent'";
  EXPECT_EQ(kinds(run), Kinds());
}

TEST(Diagnosis, WarnsOfALossThatIsFarWorseOrNoNumber) {
  const Case worse{{at(0, {10}, 2.3), at(2000, {40}, 24)}};
  ASSERT_EQ(kinds(worse), Kinds{"diverged"});
  EXPECT_EQ(diagnose(worse)[0].what, "the run diverged: loss is 24 and was 2.3 at the start");
  EXPECT_EQ(kinds({{at(0, {10}, 2.3), at(2000, {40}, kNone)}}), Kinds{"diverged"});
  EXPECT_EQ(kinds({{at(100, {10}, 2.3), at(2000, {40}, 24)}}), Kinds())
      << "without the evaluation before the first round";
}

TEST(Diagnosis, AdviceKeepsTheScheduleOfTheRate) {
  const auto advice = [](const train::RunOptions& config) {
    return warning_of(gossip::NotFinite("it is nan"), config).advice;
  };
  train::RunOptions config = support::config_of({{"lr", "steps:0.5,at=10+20,warmup=1"}});
  EXPECT_EQ(advice(config), "--lr steps:0.05,at=10+20,warmup=1, or --compressor topk:keep=0.1");
  config = support::config_of({{"lr", "0.2"}, {"algorithm", "sgp"}});
  EXPECT_EQ(advice(config), "--lr 0.02");
  config = support::config_of({{"lr", "50,warmup=0.5"}, {"algorithm", "sgp"}});
  EXPECT_EQ(advice(config), "--lr constant:5,warmup=0.5");
  config = support::config_of({{"algorithm", "sgp"}});
  EXPECT_EQ(advice(config),
            "--lr cosine:0.01, or a warm-up (--lr "
            "cosine:0.1,warmup=2)");
}

/// In a run: its outcome, its summary, and a failure's file.
TEST(Diagnosis, IsInTheSummaryOfARun) {
  support::Scratch scratch;
  Observer silent;
  const Outcome outcome =
      run(support::config_of({{"rounds", "30"}, {"lr", "0"}, {"algorithm", "sgp"}}),
          scratch / "run", silent);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_EQ(outcome.warnings[0].kind, "chance");
  const auto warnings = support::summary_of(scratch / "run")["warnings"];
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0]["kind"], "chance");
  EXPECT_EQ(warnings[0]["what"], outcome.warnings[0].what);
  EXPECT_EQ(warnings[0]["try"], outcome.warnings[0].advice);
  EXPECT_FALSE(std::filesystem::exists(scratch / "run/failure.json"));
}

TEST(Diagnosis, AModelThatIsNotFiniteLeavesAFileUntilTheRunGoesOn) {
  struct : Observer {
    std::filesystem::path file;
    bool went_on = false;
    void started(const train::RunView&, const train::RunOptions&) override {
      went_on = !std::filesystem::exists(file);
    }
  } observer;
  support::Scratch scratch;
  for (const char* timing : {"lock-step", "asynchronous"}) {
    const auto out = scratch / timing;
    observer.file = out / "failure.json";
    const auto text_of = [&](const auto& train) {
      try {
        train();
      } catch (const RunFailed& error) {
        return std::string(error.what());
      }
      return std::string("it converged");
    };
    const std::string text = text_of([&] {
      run(support::quadratics(
              {{"algorithm", "sgp"}, {"lr", "1e6"}, {"rounds", "100"}, {"timing", timing}}),
          out, observer);
    });
    EXPECT_TRUE(text.ends_with("; try --lr 1e+05")) << text;
    EXPECT_EQ(text.find("lower --lr"), std::string::npos) << text;
    const std::string what = text.substr(0, text.find(';'));
    EXPECT_EQ(support::read_text(observer.file),
              "{\"warnings\": [{\"kind\":\"failed\",\"what\":\"" + what +
                  "\",\"try\":\"--lr 1e+05\"}]}\n");
    observer.went_on = false;
    EXPECT_EQ(text_of([&] { resume(out, 1, observer); }), text);
    EXPECT_TRUE(observer.went_on) << "a run that goes on has not failed";
  }
}

}  // namespace
}  // namespace hearsay::run
