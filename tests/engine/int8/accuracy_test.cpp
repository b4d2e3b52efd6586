#include <gtest/gtest.h>

#include <cmath>

#include "engine/int8/reference.h"
#include "engine/run_program.h"
#include "hearsay/engine/cpu/int8/program.h"
#include "hearsay/model/models.h"

/// What the roundings of networks in 8 bits are good for: tests that programs pass, and that fail
/// for controls which round otherwise (Int8Variant).
namespace hearsay::engine {
namespace {

using cpu::int8::Program;
using model::Network;

/// A network at its start, in 8 bits, in a control and in double.
class Trial {
 public:
  static constexpr StreamKey kKey{.seed = 5, .peer = 2, .round = 7};

  Trial(const Network& net, std::size_t batch) : net_(net), program_(net, batch) {
    example = model::make_example(net, batch, 1);
    std::vector<float> x(net.layout().dim());
    net.initialize(3, x);
    example.parameters = to_doubles(x);
  }

  Int8Outcome run(const StreamKey& key = kKey) {
    const ProgramOutcome found = run_gradient(program_, example, key);
    return {.loss = found.loss,
            .logits = run_logits(program_, net_.outputs(), example),
            .gradient = found.gradient};
  }
  Int8Outcome run(Int8Variant variant) const {
    return int8_reference(net_, to_floats(example.parameters), to_floats(example.samples.images),
                          example.samples.targets(), kKey, {}, variant);
  }
  model::Outcome run_in_double() const {
    model::Doubles buffers;
    return model::reference_gradient(net_, example.parameters, buffers, example.samples, {});
  }

  Example example;

 private:
  const Network& net_;
  Program program_;
};

/// The samples of a batch differ in scale by up to 64.
void scale_samples(const Network& net, Example& example) {
  const std::size_t size = net.shape(0).size();
  for (std::size_t e = 0; e < example.samples.images.size(); ++e) {
    example.samples.images[e] *= std::ldexp(1, -2 * static_cast<int>(e / size % 4));
  }
}

class Int8Accuracy : public ::testing::TestWithParam<const char*> {};

/// The bar of a network at its start. Measured: 0.996 (shortcuts A), 0.995 (B).
constexpr double kBar = 0.985;

/// The controls with shortcuts B: 0.973 if rounded down, 0.978 with a scale per batch.
TEST_P(Int8Accuracy, GradientPointsWhereThatInDoubleDoes) {
  const Network net = model::make_model(GetParam(), {3, 32, 32}, 10);
  Trial trial(net, 4);
  scale_samples(net, trial.example);
  const model::Outcome exact = trial.run_in_double();
  const Int8Outcome found = trial.run();
  EXPECT_GE(cosine(found.gradient, exact.gradient), kBar);
  EXPECT_LE(distance(found.logits, exact.logits), 0.03 * norm(exact.logits));

  if (std::string_view(GetParam()).find("shortcut=B") == std::string_view::npos) return;
  EXPECT_LT(cosine(trial.run(Int8Variant::kTruncation).gradient, exact.gradient), kBar);
  const Int8Outcome per_batch = trial.run(Int8Variant::kScalePerBatch);
  EXPECT_LT(cosine(per_batch.gradient, exact.gradient), kBar);
  EXPECT_GT(distance(per_batch.logits, exact.logits), 0.06 * norm(exact.logits));
}

INSTANTIATE_TEST_SUITE_P(Resnet20, Int8Accuracy,
                         ::testing::Values("resnet20:norm=range-evonorm",
                                           "resnet20:norm=range-evonorm,shortcut=B"),
                         [](const auto& test) { return test.index == 0 ? "A" : "B"; });

/// Over 4,096 streams the gradient that the second layer passes to the first, which is that of the
/// first one's biases, is on average what it is without rounding to 8 bits.
TEST(Int8Accuracy, DataGradientsAreExactOnAverage) {
  Network net({20, 1, 1});
  net.add("linear", model::Linear{.out = 7},
          {net.add("hidden", model::Linear{.out = 24}, {net.input()})});
  const Segment& bias = net.layout().segments()[1];
  ASSERT_EQ(bias.name, "hidden.bias");
  Trial trial(net, 1);

  constexpr std::uint32_t kStreams = 4096;
  std::vector<double> sum(bias.size), squares(bias.size);
  for (std::uint32_t round = 0; round < kStreams; ++round) {
    const Int8Outcome found = trial.run({.seed = 5, .peer = 0, .round = round});
    for (std::size_t k = 0; k < bias.size; ++k) {
      const auto x = static_cast<double>(found.gradient[bias.offset + k]);
      sum[k] += x;
      squares[k] += x * x;
    }
  }
  const Int8Outcome expected = trial.run(Int8Variant::kMean);
  const Int8Outcome down = trial.run(Int8Variant::kTruncation);
  std::size_t beyond = 0;  // of the control
  for (std::size_t k = 0; k < bias.size; ++k) {
    const double mean = sum[k] / kStreams;
    const double deviation = std::sqrt((squares[k] / kStreams - mean * mean) / kStreams);
    const auto exact = static_cast<double>(expected.gradient[bias.offset + k]);
    ASSERT_GT(deviation, 0);
    EXPECT_NEAR(mean, exact, 5 * deviation) << k;
    const double control = static_cast<double>(down.gradient[bias.offset + k]);
    beyond += std::abs(control - exact) > 5 * deviation ? 1 : 0;
  }
  EXPECT_GT(beyond, bias.size * 3 / 4);
}

/// A layer whose inputs and weights are codes is exact but for its gradient's rounding, to 16 bits;
/// a control with one gradient of 8 bits for data and weights loses a hundred times more.
TEST(Int8Accuracy, WeightGradientsHave16Bits) {
  const Network net = model::make_model("logistic", {1, 6, 6}, 10);
  Trial trial(net, 16);
  Random random(4, Purpose::kTest);
  const auto fill = [&](std::span<double> x, double unit) {
    for (double& entry : x) entry = (static_cast<double>(random.below(255)) - 127) * unit;
    x.front() = 127 * unit;
  };
  const Segment& weight = net.layout().segments()[0];
  fill(std::span(trial.example.parameters).subspan(weight.offset, weight.size), 0x1p-10);
  for (std::size_t n = 0; n < 16; ++n) {
    fill(std::span(trial.example.samples.images).subspan(n * 36, 36), 0x1p-6);
  }
  const model::Outcome exact = trial.run_in_double();
  const double size = norm(exact.gradient);
  EXPECT_LE(distance(trial.run().gradient, exact.gradient), 1e-4 * size);
  const Int8Outcome control = trial.run(Int8Variant::kNoBifurcation);
  EXPECT_GT(distance(control.gradient, exact.gradient), 1e-3 * size);
}

}  // namespace
}  // namespace hearsay::engine
