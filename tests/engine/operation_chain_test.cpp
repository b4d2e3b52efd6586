#include <gtest/gtest.h>

#include "engine/chains.h"
#include "engine/run_program.h"
#include "hearsay/core/error.h"
#include "hearsay/engine/cpu/float_program.h"

namespace hearsay::model {
namespace {

class PlannedChain : public ::testing::TestWithParam<Chain> {
 protected:
  static constexpr std::size_t kBatch = 3;
  const Network net_ = chain_network(GetParam());
  const Example example_ = make_example(net_, kBatch, 1);
  const engine::StreamKey key_{.seed = 5};
};

TEST_P(PlannedChain, ComputesWhatTheReferenceDoes) {
  engine::cpu::FloatProgram program(net_, kBatch);
  const engine::ProgramOutcome planned = engine::run_gradient(program, example_, key_);
  Doubles buffers = example_.buffers;
  const Outcome reference = reference_gradient(net_, example_.parameters, buffers, example_.samples,
                                               dropped_by(net_, key_.stream(Purpose::kDropout)));
  // As in operation_test.cpp, over up to five layers.
  constexpr double kTolerance = 1e-5;
  EXPECT_NEAR(planned.loss, reference.loss, kTolerance * reference.loss);
  for (const Segment& segment : net_.layout().segments()) {
    const auto expected = std::span(reference.gradient).subspan(segment.offset, segment.size);
    const auto found = std::span(planned.gradient).subspan(segment.offset, segment.size);
    const double scale = std::max(engine::norm(expected), 0.1 * engine::norm(reference.gradient));
    EXPECT_LE(engine::distance(found, expected), kTolerance * scale) << segment.name;
  }
  EXPECT_LE(engine::distance(planned.buffers, buffers), kTolerance * engine::norm(buffers));

  const Doubles logits =
      reference_logits(net_, example_.parameters, example_.buffers, example_.samples.images);
  EXPECT_LE(engine::distance(engine::run_logits(program, net_.outputs(), example_), logits),
            kTolerance * engine::norm(logits));

  EXPECT_EQ(engine::run_gradient(program, example_, key_), planned);
}

INSTANTIATE_TEST_SUITE_P(Chains, PlannedChain, ::testing::ValuesIn(chains()),
                         [](const auto& test) { return test.param.name; });

TEST(PlannedNetwork, MayNotMakeWhatNobodyReads) {
  Network net({3, 4, 4});
  const Value x = net.add("conv", Conv2d{.out = 4}, {net.input()});
  net.add("unused", Relu{}, {x});
  net.add("linear", Linear{.out = 3}, {net.add("flatten", Flatten{}, {x})});
  try {
    engine::cpu::FloatProgram(net, 2);
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "[model] nothing reads what unused makes; leave it out");
  }
}

}  // namespace
}  // namespace hearsay::model
