#include <gtest/gtest.h>

#include <tuple>

#include "engine/chains.h"
#include "engine/cuda/gpu.h"
#include "hearsay/core/error.h"

namespace hearsay::engine {
namespace {

/// Below fp32, values between a chain's operations are rounded, and if that moves one across the
/// kink of a relu, its whole gradient is present or not: of N values in total, each contributes
/// about 1 / sqrt(N) of the gradient's norm. Here N is about 2,000, and of normally distributed
/// values one in 4,000 is within tf32's rounding of 0, one in 500 within bf16's.
double allowed_in_all(const std::string& precision) { return precision == "tf32" ? 0.05 : 0.15; }

class GpuChain : public GpuTest,
                 public ::testing::WithParamInterface<std::tuple<model::Chain, std::string>> {};

TEST_P(GpuChain, ComputesWhatTheReferenceDoes) {
  constexpr std::size_t kPeers = 2, kBatch = 3;
  const auto& [chain, precision] = GetParam();
  const double tolerance = tolerance_of(precision);
  const model::Network net = model::chain_network(chain);
  const auto examples = gpu_examples(net, kPeers, kBatch, precision);
  GpuProgram program(net, examples, precision);
  const std::vector<float> logits = program.logits();
  const auto outcomes = program.gradient();
  const std::size_t size = kBatch * net.outputs();
  for (std::uint32_t i = 0; i < kPeers; ++i) {
    SCOPED_TRACE("peer " + std::to_string(i));
    if (precision == "fp32") {
      expect_reference(net, examples[i], GpuProgram::stream(i), outcomes[i], tolerance);
    } else {
      Doubles buffers = examples[i].buffers;
      const model::Outcome reference =
          model::reference_gradient(net, examples[i].parameters, buffers, examples[i].samples,
                                    model::dropped_by(net, GpuProgram::stream(i)));
      EXPECT_NEAR(outcomes[i].loss, reference.loss, tolerance * reference.loss);
      EXPECT_LE(distance(outcomes[i].gradient, reference.gradient),
                allowed_in_all(precision) * norm(reference.gradient));
      EXPECT_LE(distance(outcomes[i].buffers, buffers), tolerance * norm(buffers)) << "buffers";
    }
    const Doubles expected = model::reference_logits(
        net, examples[i].parameters, examples[i].buffers, examples[i].samples.images);
    EXPECT_LE(distance(std::span(logits).subspan(i * size, size), expected),
              tolerance * norm(expected));
  }
  program.place(examples);
  EXPECT_EQ(program.gradient(), outcomes) << "the same again";
}

INSTANTIATE_TEST_SUITE_P(Chains, GpuChain,
                         ::testing::Combine(::testing::ValuesIn(model::chains()),
                                            ::testing::Values("fp32", "tf32", "bf16")),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + std::get<1>(test.param);
                         });

class GpuNetwork : public GpuTest {};

TEST_F(GpuNetwork, MayNotMakeWhatNobodyReads) {
  model::Network net({3, 4, 4});
  const model::Value x = net.add("conv", model::Conv2d{.out = 4}, {net.input()});
  net.add("unused", model::Relu{}, {x});
  net.add("linear", model::Linear{.out = 3}, {net.add("flatten", model::Flatten{}, {x})});
  Gpu gpu("fp32");
  EXPECT_THROW(cuda::make_program(net, 1, 2, cuda::Program::Use::kTraining, gpu.context()),
               InvalidArgument);
}

TEST_F(GpuNetwork, MayNotBeTooLargeToCount) {
  model::Network net({3, 32, 32});
  net.add("linear", model::Linear{.out = 3}, {net.add("flatten", model::Flatten{}, {0})});
  Gpu gpu("fp32");
  EXPECT_THROW(cuda::make_program(net, 1000, 1000, cuda::Program::Use::kTraining, gpu.context()),
               InvalidArgument);
}

}  // namespace
}  // namespace hearsay::engine
