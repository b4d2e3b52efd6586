// Whole models on the GPU against PyTorch, as golden_test.cpp does on the CPU.

#include <gtest/gtest.h>

#include "engine/cuda/gpu.h"
#include "golden/golden_file.h"
#include "golden/zoo.h"
#include "hearsay/model/models.h"

namespace hearsay::model {
namespace {

class GpuGolden : public engine::GpuTest, public ::testing::WithParamInterface<const char*> {
 protected:
  const golden::GoldenFile file_ = golden::read_golden(GetParam());
  const Network net_ = file_.spec == "zoo" ? make_zoo(file_.input)
                                           : make_model(file_.spec, file_.input, file_.outputs);
};

void check(const Layout& layout, const std::vector<golden::Expected>& expected,
           const std::vector<float>& found, double tolerance) {
  const Doubles values = engine::to_doubles(found);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Segment& segment = layout.segments()[i];
    EXPECT_LE(expected[i].error(i, std::span(values).subspan(segment.offset, segment.size)),
              tolerance)
        << segment.name;
  }
}

/// In fp32, for two peers with the same model and samples: tolerances as on the CPU.
TEST_P(GpuGolden, ProgramComputesWhatPyTorchDoes) {
  Example example = file_.example(net_);
  engine::GpuProgram program(net_, {example, example}, "fp32");
  const auto outcomes = program.gradient();
  EXPECT_EQ(outcomes[0], outcomes[1]);
  EXPECT_NEAR(outcomes[0].loss, file_.loss, 1e-6 * file_.loss);
  check(net_.layout(), file_.tensors, outcomes[0].gradient, 0.5e-4);
  check(net_.buffers(), file_.buffers, outcomes[0].buffers, 1e-5);

  example.buffers = engine::to_doubles(outcomes[0].buffers);
  program.place({example, example});
  const std::vector<float> logits = program.logits();
  EXPECT_LE(engine::distance(std::span(logits).first(logits.size() / 2), file_.logits),
            1e-4 * engine::norm(file_.logits));
}

INSTANTIATE_TEST_SUITE_P(Files, GpuGolden,
                         ::testing::Values("cnn", "lenet5", "resnet20", "resnet20_evonorm", "zoo",
                                           "mlp_mse", "cnn_huber"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace hearsay::model
