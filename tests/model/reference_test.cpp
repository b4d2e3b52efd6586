#include "model/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "model/operation_cases.h"

namespace hearsay::model {
namespace {

double norm(std::span<const double> x) {
  double sum = 0;
  for (double entry : x) sum += entry * entry;
  return std::sqrt(sum);
}

/// Every backward pass of the reference is the derivative of its forward pass.
class ReferenceGradient : public ::testing::TestWithParam<std::tuple<OperationCase, std::size_t>> {
 protected:
  double loss() const {
    return reference_loss(net_, example_.parameters, example_.buffers, example_.samples, dropped_);
  }

  /// Compares derivatives along random sign vectors. If the gradient is off by e, they are off by
  /// |e| in root mean square. The step has length 1e-5, so it hardly ever crosses a kink, and
  /// central differences are off by about 1e-10 (truncation) and 1e-11 sqrt(n) (rounding).
  void check(std::span<double> x, std::span<const double> gradient, const std::string& name) {
    Random random(7, Purpose::kTest);
    const double step = 1e-5 / std::sqrt(static_cast<double>(x.size()));
    const Doubles start(x.begin(), x.end());
    for (int direction = 0; direction < 4; ++direction) {
      double expected = 0;
      Doubles signs;
      for (double slope : gradient) {
        signs.push_back(random.below(2) == 0 ? 1 : -1);
        expected += slope * signs.back();
      }
      const auto loss_at = [&](double t) {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = start[i] + t * signs[i];
        return loss();
      };
      const double difference = (loss_at(step) - loss_at(-step)) / (2 * step);
      EXPECT_NEAR(difference, expected, 1e-6 * norm(gradient) + 1e-9) << name;
    }
    std::ranges::copy(start, x.begin());
  }

  Network net_ = lens_network(std::get<0>(GetParam()));
  Example example_ = make_example(net_, std::get<1>(GetParam()), 1);
  Dropped dropped_ = dropped_by(net_, Random(3, Purpose::kDropout));
};

TEST_P(ReferenceGradient, IsTheDerivativeOfTheLoss) {
  Doubles buffers = example_.buffers;
  const Outcome outcome =
      reference_gradient(net_, example_.parameters, buffers, example_.samples, dropped_);
  check(example_.samples.images, outcome.images_gradient, "images");
  for (const Segment& segment : net_.layout().segments()) {
    check(std::span(example_.parameters).subspan(segment.offset, segment.size),
          std::span(outcome.gradient).subspan(segment.offset, segment.size), segment.name);
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, ReferenceGradient,
                         ::testing::Combine(::testing::ValuesIn(operation_cases()),
                                            ::testing::Values(1u, 3u)),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + "Batch" +
                                  std::to_string(std::get<1>(test.param));
                         });

TEST(Reference, HasTheLossOfEvenOddsAtZero) {
  Network net({2, 1, 1});
  net.add("linear", Linear{.out = 5}, {net.input()});
  Doubles buffers;
  const Outcome outcome = reference_gradient(net, Doubles(15), buffers, {{1, 2, 3, 4}, {0, 4}}, {});
  EXPECT_DOUBLE_EQ(outcome.loss, std::log(5.0));
}

TEST(Reference, KeepsRunningStatistics) {
  Network net({1, 1, 2});
  Value x = net.add("norm", BatchNorm{}, {net.input()});
  net.add("linear", Linear{.out = 2}, {net.add("flat", Flatten{}, {x})});
  const Doubles parameters(net.layout().dim(), 1.0), images{1, 2, 3, 6};  // mean 3, variance 14 / 3
  Doubles buffers{1, 2};
  reference_gradient(net, parameters, buffers, {images, {0, 1}}, {});
  EXPECT_DOUBLE_EQ(buffers[0], 0.9 * 1 + 0.1 * 3);
  EXPECT_DOUBLE_EQ(buffers[1], 0.9 * 2 + 0.1 * 14 / 3);

  buffers = {1, 2};
  reference_observe(net, parameters, buffers, images, 0.25);
  EXPECT_DOUBLE_EQ(buffers[0], 0.75 * 1 + 0.25 * 3);

  // Evaluation normalises with them: logit = sum over both pixels of ((x - 1) / sqrt(2) + 1), + 1.
  const Doubles logits = reference_logits(net, parameters, {1, 2}, images);
  EXPECT_NEAR(logits[0], (0 + 1) / std::sqrt(2.0 + 1e-5) + 3, 1e-12);
  EXPECT_NEAR(logits[3], (2 + 5) / std::sqrt(2.0 + 1e-5) + 3, 1e-12);
}

TEST(Reference, DropsAtItsRateInTrainingOnly) {
  Network net({1000, 1, 1});
  net.add("dropout", Dropout{.rate = 0.25}, {net.input()});
  const Doubles images(2000, 3.0);
  EXPECT_EQ(reference_logits(net, {}, {}, images), images);

  Doubles buffers;
  const Dropped dropped = dropped_by(net, Random(1, Purpose::kDropout));
  const Outcome outcome = reference_gradient(net, {}, buffers, {images, {0, 1}}, dropped);
  const auto zeros = std::ranges::count(outcome.logits, 0.0);
  EXPECT_NEAR(static_cast<double>(zeros), 500, 100);  // 5 standard deviations
  EXPECT_EQ(std::ranges::count(outcome.logits, 4.0), 2000 - zeros);
}

}  // namespace
}  // namespace hearsay::model
