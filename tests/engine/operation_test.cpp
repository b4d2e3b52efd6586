#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "engine/run_program.h"
#include "hearsay/engine/cpu/float_program.h"
#include "model/operation_cases.h"

namespace hearsay::engine {
namespace {

/// Single precision has a unit roundoff of 6e-8. The longest sums here have some thousand terms of
/// both signs, which cost about sqrt(1000) of it, twice in forward and twice in backward. (The
/// largest error seen is 2e-6.)
constexpr double kTolerance = 1e-5;

/// Every operation of a program computes the same as the reference in double precision.
class PlannedOperation
    : public ::testing::TestWithParam<std::tuple<model::OperationCase, std::size_t>> {
 protected:
  cpu::FloatProgram make_program() const { return {net_, batch_}; }

  const std::size_t batch_ = std::get<1>(GetParam());
  const model::Network net_ = model::lens_network(std::get<0>(GetParam()));
  const Example example_ = model::make_example(net_, batch_, 1);
  const StreamKey key_{3, 1, 2};
  const Random random_ = key_.stream(Purpose::kDropout);
};

TEST_P(PlannedOperation, HasTheGradientOfTheReference) {
  cpu::FloatProgram program = make_program();
  const ProgramOutcome planned = run_gradient(program, example_, key_);
  Doubles buffers = example_.buffers;
  const model::Outcome reference = model::reference_gradient(
      net_, example_.parameters, buffers, example_.samples, model::dropped_by(net_, random_));

  EXPECT_NEAR(planned.loss, reference.loss, kTolerance * reference.loss);
  for (const Segment& segment : net_.layout().segments()) {
    const auto expected =
        std::span<const double>(reference.gradient).subspan(segment.offset, segment.size);
    const auto found =
        std::span<const float>(planned.gradient).subspan(segment.offset, segment.size);
    // A bias right before a norm has gradient 0: only rounding remains, which is relative to its
    // terms and not to their sum.
    const double scale = std::max(norm(expected), 0.1 * norm(reference.gradient));
    EXPECT_LE(distance(found, expected), kTolerance * scale) << segment.name;
  }
  EXPECT_LE(distance(planned.buffers, buffers), kTolerance * norm(buffers));
}

TEST_P(PlannedOperation, HasTheLogitsOfTheReferenceInEvaluation) {
  cpu::FloatProgram program = make_program();
  const std::vector<float> logits = run_logits(program, net_.outputs(), example_);
  const Doubles expected =
      model::reference_logits(net_, example_.parameters, example_.buffers, example_.samples.images);
  EXPECT_LE(distance(logits, expected), kTolerance * norm(expected));
}

/// No state carries over to the next call: not even NaN, with which the first fills the arena.
TEST_P(PlannedOperation, ForgetsWhatItComputedBefore) {
  cpu::FloatProgram used = make_program(), fresh = make_program(), other = make_program();
  Example poison = example_;
  std::ranges::fill(poison.samples.images, std::numeric_limits<double>::quiet_NaN());
  std::ranges::fill(poison.parameters, std::numeric_limits<double>::quiet_NaN());
  run_gradient(used, poison, {.seed = 4});
  EXPECT_EQ(run_gradient(used, example_, key_), run_gradient(fresh, example_, key_));

  run_gradient(used, poison, {.seed = 4});
  EXPECT_EQ(run_logits(used, net_.outputs(), example_),
            run_logits(other, net_.outputs(), example_));
}

INSTANTIATE_TEST_SUITE_P(Operations, PlannedOperation,
                         ::testing::Combine(::testing::ValuesIn(model::operation_cases()),
                                            ::testing::Values(1u, 3u)),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + "Batch" +
                                  std::to_string(std::get<1>(test.param));
                         });

/// Pixels of few kinds, so that every run has its extremes several times.
TEST(PlannedRangeEvoNorm, SharesTheGradientOfAnExtremeAmongEqualValues) {
  for (const model::Gate gate : {model::Gate::kHard, model::Gate::kSigmoid}) {
    const model::OperationCase test{"", {24, 8, 8}, model::RangeEvoNorm{.gate = gate}};
    const model::Network net = model::lens_network(test);
    Example example = model::make_example(net, 3, 1);
    const std::size_t pixels = 64;
    for (std::size_t i = 0; i < example.samples.images.size(); ++i) {
      const std::size_t channel = i / pixels, pixel = i % pixels;
      example.samples.images[i] = static_cast<double>((channel * 7 + pixel % 3 * 5) % 11) - 5;
    }
    cpu::FloatProgram program(net, 3);
    const ProgramOutcome planned = run_gradient(program, example, {});
    Doubles buffers;
    const model::Outcome reference =
        model::reference_gradient(net, example.parameters, buffers, example.samples, {});
    EXPECT_LE(distance(planned.gradient, reference.gradient),
              kTolerance * norm(reference.gradient));
  }
}

TEST(PlannedBatchNorm, ObservesStatisticsWithTheMomentumAskedFor) {
  const model::OperationCase test{"", {17, 4, 3}, model::BatchNorm{}};
  const model::Network net = model::lens_network(test);
  const Example example = model::make_example(net, 3, 1);
  cpu::FloatProgram program(net, 3);
  std::vector<float> found = to_floats(example.buffers);
  Doubles expected = example.buffers;
  for (const double momentum : {1.0, 0.5, 0.01}) {
    std::ranges::copy(to_floats(example.samples.images), program.images().begin());
    program.observe(to_floats(example.parameters), found, momentum);
    model::reference_observe(net, example.parameters, expected, example.samples.images, momentum);
    EXPECT_LE(distance(found, expected), kTolerance * norm(expected)) << momentum;
  }
}

TEST(PlannedDropout, IsOffWhileObservingStatistics) {
  model::Network net({5, 3, 4});
  model::Value x = net.add("dropout", model::Dropout{}, {net.input()});
  x = net.add("norm", model::BatchNorm{}, {x});
  net.add("linear", model::Linear{.out = 3}, {net.add("flatten", model::Flatten{}, {x})});
  const Example example = model::make_example(net, 4, 1);
  cpu::FloatProgram program(net, 4);
  std::vector<float> found = to_floats(example.buffers);
  Doubles expected = example.buffers;
  std::ranges::copy(to_floats(example.samples.images), program.images().begin());
  program.observe(to_floats(example.parameters), found, 1);
  model::reference_observe(net, example.parameters, expected, example.samples.images, 1);
  EXPECT_LE(distance(found, expected), kTolerance * norm(expected));
}

}  // namespace
}  // namespace hearsay::engine
