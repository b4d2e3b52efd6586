#include "hearsay/engine/loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/bank.h"
#include "hearsay/data/targets.h"
#include "hearsay/engine/cpu/loss.h"

namespace hearsay::engine {
namespace {

using data::Task;

Loss loss_of(std::string_view spec) {
  return make_loss(spec, spec == "cross-entropy" ? Task::kClassification : Task::kRegression);
}

/// torch.nn.functional.mse_loss and huber_loss(delta=0.5) of these.
constexpr float kOutputs[] = {0.5f, -1, 2, 0.25f, 3, -0.125f};
constexpr float kTargets[] = {0.25f, 1, 2, -0.25f, 1, 0};

TEST(Loss, IsPyTorchs) {
  float gradient[6];
  // Errors 0.25, -2, 0, 0.5, 2, -0.125.
  EXPECT_DOUBLE_EQ(cpu::batch_loss(loss_of("mse"), kOutputs, 2, 3, {.numbers = kTargets}, gradient),
                   (0.0625 + 4 + 0 + 0.25 + 4 + 0.015625) / 6);
  EXPECT_FLOAT_EQ(gradient[1], -4.0f / 6);
  EXPECT_DOUBLE_EQ(
      cpu::batch_loss(loss_of("huber:delta=0.5"), kOutputs, 2, 3, {.numbers = kTargets}, gradient),
      (0.03125 + 0.5 * 1.75 + 0 + 0.125 + 0.5 * 1.75 + 0.0078125) / 6);
  EXPECT_FLOAT_EQ(gradient[1], -0.5f / 6);
  EXPECT_FLOAT_EQ(gradient[0], 0.25f / 6);
}

/// Steps of 2^-6 are exact, and no error is within one of a kink of huber.
TEST(Loss, HasTheGradientThatDifferencesGive) {
  constexpr std::uint16_t kLabels[] = {1, 0, 1};
  for (const LossEntry& entry : loss_registry()) {
    const Loss loss = make_loss(entry.example, entry.task);
    std::vector<float> outputs(std::begin(kOutputs), std::end(kOutputs));
    std::vector<float> gradient(6), unused(6);
    const Targets targets{kLabels, kTargets};
    cpu::batch_loss(loss, outputs, 2, 3, targets, gradient);
    for (std::size_t i = 0; i < 6; ++i) {
      constexpr float kStep = 0x1p-6f;
      const float start = outputs[i];
      outputs[i] = start + kStep;
      const double above = cpu::batch_loss(loss, outputs, 2, 3, targets, unused);
      outputs[i] = start - kStep;
      const double below = cpu::batch_loss(loss, outputs, 2, 3, targets, unused);
      outputs[i] = start;
      const double truncation = loss.of_numbers() ? 0 : 1e-5;  // mse and huber are quadratic
      EXPECT_NEAR((above - below) / (2 * static_cast<double>(kStep)),
                  static_cast<double>(gradient[i]), 1e-7 + truncation)
          << entry.name << " " << i;
    }
  }
}

/// The sums of an evaluation are those of the batch loss, sample by sample.
TEST(Loss, OfAnEvaluationIsThatOfTraining) {
  constexpr std::uint16_t kLabels[] = {0, 0, 0};
  for (const LossEntry& entry : loss_registry()) {
    const Loss loss = make_loss(entry.example, entry.task);
    Totals totals{.tallies = std::vector<double>(loss.tallies(2), 0.0)};
    for (std::size_t b = 0; b < 3; ++b) {
      cpu::add_sample(loss, std::span(kOutputs).subspan(2 * b, 2),
                      {std::span(kLabels).subspan(b, 1), std::span(kTargets).subspan(2 * b, 2)},
                      totals);
    }
    float unused[6];
    EXPECT_NEAR(totals.loss / 3, cpu::batch_loss(loss, kOutputs, 2, 3, {kLabels, kTargets}, unused),
                1e-12)
        << entry.name;
    if (loss.of_numbers()) {
      EXPECT_EQ(totals.tallies, (std::vector<double>{0.0625 + 0 + 4, 4 + 0.25 + 0.015625}));
    } else {
      EXPECT_EQ(totals.tallies, (std::vector<double>{3}));
    }
  }
}

TEST(Loss, SaysWhatIsWrong) {
  const auto message = [](std::string_view spec, Task task) -> std::string {
    try {
      make_loss(spec, task);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("huber:delta=0", Task::kRegression),
            "[huber] delta must be in (0, 1e6], got 0");
  EXPECT_EQ(message("cross-entropy", Task::kRegression),
            "[loss] cross-entropy is for --task classification; this run's is regression, use "
            "--loss mse");
  for (const LossEntry& entry : loss_registry()) {
    EXPECT_EQ(message(entry.example, entry.task), "no error");
  }
}

const std::string kTask = "synthetic:shape=1x4x4,targets=2,samples=300,noise=0.3";
const BankOptions kRegression{.peers = 4, .model = "linear", .task = "regression", .batch = 25};

/// `linear` starts at zero, so it predicts the mean of the training part.
TEST(Regression, ScoresTheMeanAsScikitLearnDoes) {
  BankOptions options = kRegression;
  options.validation = 0.2;
  Bank bank(kTask, options);
  const auto task = data::make_dataset(kTask, Task::kRegression);
  const Score score = bank->evaluate({bank.x.data(), bank.dim()}, {});
  ASSERT_EQ(bank->metrics().size(), 2u);
  EXPECT_EQ(bank->metrics()[0].key, "rmse");
  EXPECT_EQ(bank->metrics()[1].key, "r2");
  double rmse = 0, r2 = 0, loss = 0;
  const std::vector<double> squares = data::squared_deviations(task->test);
  for (std::size_t k = 0; k < 2; ++k) {
    double errors = 0;
    for (std::size_t i = 0; i < 60; ++i) {
      const auto t = static_cast<double>(task->test.targets.as<float>()[2 * i + k]);
      errors += std::pow(t - static_cast<double>(task->target_mean[k]), 2);
    }
    rmse += std::sqrt(errors / 60) / 2;
    r2 += (1 - errors / squares[k]) / 2;
    loss += errors / std::pow(static_cast<double>(task->target_deviation[k]), 2) / 120;
  }
  EXPECT_NEAR(score.values.at(0), rmse, 1e-6);
  EXPECT_NEAR(score.values.at(1), r2, 1e-6);
  EXPECT_LE(score.values.at(1), 0) << "another mean than the test set's own";
  EXPECT_NEAR(score.loss, loss, 1e-6);
  EXPECT_NEAR(score.validation_loss.value(), 1, 0.4);
  EXPECT_NEAR(score.validation_values.at(1), 0, 0.1);
  EXPECT_TRUE(bank->class_counts().empty());
}

TEST(Regression, IsLearntWithEitherLossFromSkewedParts) {
  for (const char* loss : {"mse", "huber:delta=0.5"}) {
    BankOptions options = kRegression;
    options.loss = loss;
    options.partition = "skew:0.8";
    Bank bank(kTask, options);
    for (std::uint32_t round = 0; round < 300; ++round) {
      bank.gradients(round);
      const auto mean = bank.mean_gradient();
      for (std::size_t k = 0; k < bank.x.size(); ++k) {
        bank.x[k] -= 0.05f * static_cast<float>(mean[k % bank.dim()]);
      }
    }
    const Score score = bank->evaluate({bank.x.data(), bank.dim()}, {});
    EXPECT_GT(score.values.at(1), 0.85) << loss;  // what a linear function can do here
  }
}

TEST(Regression, DoesNotDependOnWhoElseIsInTheBank) {
  BankOptions options = kRegression;
  options.model = "cnn:norm=batch";
  Bank all(kTask, options);
  options.first = 2;
  options.rows = 1;
  options.threads = 2;
  Bank one(kTask, options);
  for (std::uint32_t round : {0u, 7u}) {
    all.gradients(round);
    one.gradients(round);
    EXPECT_TRUE(std::equal(one.g.begin(), one.g.end(), all.g.data() + 2 * all.dim()));
    EXPECT_EQ(one.losses[0], all.losses[2]);
  }
  const std::span<const float> model(all.x.data(), all.dim());
  EXPECT_EQ(one->evaluate(model, all->buffers(0)).values,
            all->evaluate(model, all->buffers(0)).values);
  EXPECT_EQ(one->data_sha256(), all->data_sha256());
}

TEST(Regression, NeedsDataWithNumbers) {
  EXPECT_EQ(message_of("digits", kRegression),
            "[digits] has classes, not numbers to predict; --task regression needs one of "
            "synthetic, npz, csv");
}

}  // namespace
}  // namespace hearsay::engine
