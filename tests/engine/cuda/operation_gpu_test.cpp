#include <gtest/gtest.h>

#include <tuple>

#include "engine/cuda/gpu.h"

namespace hearsay::engine {
namespace {

constexpr std::size_t kPeers = 3;

/// Every operation of a program for several peers computes, for each with its own parameters, the
/// same as the reference in double precision.
class GpuOperation : public GpuTest,
                     public ::testing::WithParamInterface<
                         std::tuple<model::OperationCase, std::size_t, std::string>> {
 protected:
  const std::size_t batch_ = std::get<1>(GetParam());
  const std::string precision_ = std::get<2>(GetParam());
  const double tolerance_ = tolerance_of(precision_);
  const model::Network net_ = model::lens_network(std::get<0>(GetParam()));
  const std::vector<Example> examples_ = gpu_examples(net_, kPeers, batch_, precision_);
};

TEST_P(GpuOperation, HasTheGradientOfTheReference) {
  const auto outcomes = GpuProgram(net_, examples_, precision_).gradient();
  for (std::uint32_t i = 0; i < kPeers; ++i) {
    SCOPED_TRACE("peer " + std::to_string(i));
    expect_reference(net_, examples_[i], GpuProgram::stream(i), outcomes[i], tolerance_);
  }
}

TEST_P(GpuOperation, HasTheLogitsOfTheReferenceInEvaluation) {
  const std::vector<float> logits = GpuProgram(net_, examples_, precision_).logits();
  // Of all peers together: a single sample's few logits can be near zero by chance.
  Doubles expected;
  for (std::size_t i = 0; i < kPeers; ++i) {
    const Doubles own = model::reference_logits(net_, examples_[i].parameters, examples_[i].buffers,
                                                examples_[i].samples.images);
    expected.insert(expected.end(), own.begin(), own.end());
  }
  EXPECT_LE(distance(logits, expected), tolerance_ * norm(expected));
}

/// No state carries over to the next call: not even NaN, with which the first fills the memory.
TEST_P(GpuOperation, ForgetsWhatItComputedBefore) {
  std::vector<Example> poison = examples_;
  for (Example& example : poison) {
    std::ranges::fill(example.parameters, std::numeric_limits<double>::quiet_NaN());
    std::ranges::fill(example.samples.images, 1e30);
  }
  GpuProgram used(net_, poison, precision_);
  used.gradient();
  used.place(examples_);
  EXPECT_EQ(used.gradient(), GpuProgram(net_, examples_, precision_).gradient());
}

TEST_P(GpuOperation, GivesAPeerTheSameAloneAndAmongOthers) {
  const auto together = GpuProgram(net_, examples_, precision_).gradient();
  for (std::uint32_t i = 0; i < kPeers; ++i) {
    EXPECT_EQ(GpuProgram(net_, {examples_[i]}, precision_, i).gradient().front(), together[i])
        << "peer " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, GpuOperation,
                         ::testing::Combine(::testing::ValuesIn(model::operation_cases()),
                                            ::testing::Values(1u, 3u),
                                            ::testing::Values("fp32", "tf32", "bf16")),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + "Batch" +
                                  std::to_string(std::get<1>(test.param)) + std::get<2>(test.param);
                         });

/// Pixels of few kinds, so that every run has its extremes several times.
class GpuRangeEvoNorm : public GpuTest {};

TEST_F(GpuRangeEvoNorm, SharesTheGradientOfAnExtremeAmongEqualValues) {
  for (const model::Gate gate : {model::Gate::kHard, model::Gate::kSigmoid}) {
    const model::Network net =
        model::lens_network({"", {24, 8, 8}, model::RangeEvoNorm{.gate = gate}});
    auto examples = gpu_examples(net, 2, 3, "fp32");
    for (Example& example : examples) {
      for (std::size_t i = 0; i < example.samples.images.size(); ++i) {
        const std::size_t channel = i / 64, pixel = i % 64;
        example.samples.images[i] = static_cast<double>((channel * 7 + pixel % 3 * 5) % 11) - 5;
      }
    }
    const auto outcomes = GpuProgram(net, examples, "fp32").gradient();
    for (std::uint32_t i = 0; i < 2; ++i) {
      expect_reference(net, examples[i], GpuProgram::stream(i), outcomes[i], tolerance_of("fp32"));
    }
  }
}

/// Sizes at which blocks share a peer's pixels, and channels fill more than one slab.
class GpuBatchNorm : public GpuTest,
                     public ::testing::WithParamInterface<std::tuple<model::Shape, std::string>> {
 protected:
  void expect_gradient(const model::Network& net) {
    const std::string& precision = std::get<1>(GetParam());
    const auto examples = gpu_examples(net, 2, 5, precision);
    const auto outcomes = GpuProgram(net, examples, precision).gradient();
    for (std::uint32_t i = 0; i < 2; ++i) {
      expect_reference(net, examples[i], GpuProgram::stream(i), outcomes[i],
                       tolerance_of(precision));
    }
  }
};

TEST_P(GpuBatchNorm, SumsOverManyBlocks) {
  model::Network net(std::get<0>(GetParam()));
  model::Value x = net.add("norm", model::BatchNorm{}, {net.input()});
  x = net.add("gelu", model::Gelu{}, {net.add("relu", model::Relu{}, {x})});
  x = net.add("pool", model::GlobalAveragePool{}, {x});
  net.add("linear", model::Linear{.out = 3}, {x});
  expect_gradient(net);
}

TEST_P(GpuBatchNorm, TakesTheSumsOfItsReader) {
  model::Network net(std::get<0>(GetParam()));
  model::Value x = net.add("norm", model::BatchNorm{}, {net.input()});
  x = net.add("pool", model::GlobalAveragePool{}, {net.add("relu", model::Relu{}, {x})});
  net.add("linear", model::Linear{.out = 3}, {x});
  expect_gradient(net);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, GpuBatchNorm,
    ::testing::Combine(::testing::Values(model::Shape{16, 32, 32}, model::Shape{7, 33, 31},
                                         model::Shape{300, 9, 7}, model::Shape{1037, 5, 3},
                                         model::Shape{2080, 3, 2}),
                       ::testing::Values("fp32", "bf16")));

class GpuStatistics : public GpuTest {};

/// A convolution accumulates the moments of its output; if a channel's mean is hundreds of its
/// deviations, its variance must not be lost in the squares. The weights are exact in tf32 too, so
/// that only the sums are rounded.
class GpuFarMoments : public GpuTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(GpuFarMoments, KeepTheVariance) {
  constexpr double kDeviations = 300;
  constexpr std::size_t kChannels = 16;
  model::Network net({8, 16, 16});
  model::Value x = net.add("conv", model::Conv2d{.out = kChannels, .padding = 1}, {net.input()});
  x = net.add("pool", model::GlobalAveragePool{}, {net.add("norm", model::BatchNorm{}, {x})});
  net.add("linear", model::Linear{.out = 3}, {x});
  const auto& segments = net.layout().segments();
  ASSERT_EQ(segments[1].size, kChannels) << "the bias follows the weights";
  auto examples = gpu_examples(net, 2, 4, GetParam());
  std::vector<Doubles> expected;
  for (Example& example : examples) {
    for (double& image : example.samples.images) image = from_bfloat16(to_bfloat16(image));
    for (std::size_t k = 0; k < segments[0].size; ++k) {
      double& weight = example.parameters[segments[0].offset + k];
      weight = from_bfloat16(to_bfloat16(weight));
    }
    const auto observed = [&] {
      Doubles buffers = example.buffers;
      model::reference_observe(net, example.parameters, buffers, example.samples.images, 1);
      return buffers;
    };
    const Doubles before = observed();  // means, then variances
    for (std::size_t c = 0; c < kChannels; ++c) {
      example.parameters[segments[1].offset + c] =
          static_cast<float>(kDeviations * std::sqrt(before[kChannels + c]));
    }
    expected.push_back(observed());
  }
  GpuProgram program(net, examples, GetParam());
  program.observe(1);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::vector<float> found = program.buffers(i);
    for (std::size_t c = 0; c < 2 * kChannels; ++c) {
      // Adjacent floats near 300 deviations differ by 1e-5 of a deviation or more.
      const double allowed = c < kChannels ? 1e-6 : 1e-4;
      EXPECT_NEAR(found[c], expected[i][c], allowed * expected[i][c])
          << "peer " << i << (c < kChannels ? ", mean" : ", variance") << " of channel "
          << c % kChannels;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, GpuFarMoments, ::testing::Values("fp32", "tf32"));

TEST_F(GpuStatistics, AreObservedWithTheMomentumAskedFor) {
  const model::Network net = model::lens_network({"", {17, 4, 3}, model::BatchNorm{}});
  const auto examples = gpu_examples(net, 2, 3, "fp32");
  GpuProgram program(net, examples, "fp32");
  std::vector<Doubles> expected{examples[0].buffers, examples[1].buffers};
  for (const double momentum : {1.0, 0.5, 0.01}) {
    program.observe(momentum);
    for (std::size_t i = 0; i < 2; ++i) {
      model::reference_observe(net, examples[i].parameters, expected[i], examples[i].samples.images,
                               momentum);
      EXPECT_LE(distance(program.buffers(i), expected[i]), 1e-5 * norm(expected[i])) << momentum;
    }
  }
}

TEST_F(GpuStatistics, AreObservedWithoutDropout) {
  model::Network net({5, 3, 4});
  model::Value x = net.add("dropout", model::Dropout{}, {net.input()});
  x = net.add("norm", model::BatchNorm{}, {x});
  net.add("linear", model::Linear{.out = 3}, {net.add("flatten", model::Flatten{}, {x})});
  const auto examples = gpu_examples(net, 1, 4, "fp32");
  GpuProgram program(net, examples, "fp32");
  program.observe(1);
  Doubles expected = examples[0].buffers;
  model::reference_observe(net, examples[0].parameters, expected, examples[0].samples.images, 1);
  EXPECT_LE(distance(program.buffers(0), expected), 1e-5 * norm(expected));
}

}  // namespace
}  // namespace hearsay::engine
