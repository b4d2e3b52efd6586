#include <gtest/gtest.h>

#include <tuple>

#include "engine/chains.h"
#include "engine/gpu.h"
#include "hearsay/core/error.h"

namespace hearsay::engine {
namespace {

class GpuChain : public GpuTest,
                 public ::testing::WithParamInterface<std::tuple<model::Chain, std::string>> {};

TEST_P(GpuChain, ComputesWhatTheReferenceDoes) {
  constexpr std::size_t kPeers = 2, kBatch = 3;
  const auto& [chain, precision] = GetParam();
  const double tolerance = tolerance_of(precision);
  const model::Network net = model::chain_network(chain);
  const auto examples = gpu_examples(net, kPeers, kBatch, precision);
  GpuPlan plan(net, examples, precision);
  const std::vector<float> logits = plan.logits();
  const auto outcomes = plan.gradient();
  const std::size_t size = kBatch * net.classes();
  for (std::uint32_t i = 0; i < kPeers; ++i) {
    SCOPED_TRACE("peer " + std::to_string(i));
    expect_reference(net, examples[i], GpuPlan::stream(i), outcomes[i], tolerance);
    const Doubles expected = model::reference_logits(
        net, examples[i].parameters, examples[i].buffers, examples[i].samples.images);
    EXPECT_LE(distance(std::span(logits).subspan(i * size, size), expected),
              tolerance * norm(expected));
  }
  plan.place(examples);
  EXPECT_EQ(plan.gradient(), outcomes) << "the same again";
}

INSTANTIATE_TEST_SUITE_P(Chains, GpuChain,
                         ::testing::Combine(::testing::ValuesIn(model::chains()),
                                            ::testing::Values("fp32", "tf32")),
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
  EXPECT_THROW(cuda::Plan(net, 1, 2, cuda::Plan::Use::kTraining, gpu.context()), InvalidArgument);
}

TEST_F(GpuNetwork, MayNotBeTooLargeToCount) {
  model::Network net({3, 32, 32});
  net.add("linear", model::Linear{.out = 3}, {net.add("flatten", model::Flatten{}, {0})});
  Gpu gpu("fp32");
  EXPECT_THROW(cuda::Plan(net, 1000, 1000, cuda::Plan::Use::kTraining, gpu.context()),
               InvalidArgument);
}

}  // namespace
}  // namespace hearsay::engine
