// Whole models against PyTorch: results that golden.py computed once in double precision.

#include <gtest/gtest.h>

#include "engine/run_program.h"
#include "golden/golden_file.h"
#include "golden/zoo.h"
#include "hearsay/engine/cpu/float_program.h"
#include "hearsay/model/models.h"

namespace hearsay::model {
namespace {

class Golden : public ::testing::TestWithParam<const char*> {
 protected:
  Network make_network() const {
    return file_.spec == "zoo" ? make_zoo(file_.input)
                               : make_model(file_.spec, file_.input, file_.outputs);
  }

  /// Every tensor's estimated error, see Expected::error, is at most `tolerance`.
  static void check(const Layout& layout, const std::vector<golden::Expected>& expected,
                    std::span<const double> found, double tolerance) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Segment& segment = layout.segments()[i];
      EXPECT_LE(expected[i].error(i, found.subspan(segment.offset, segment.size)), tolerance)
          << segment.name;
    }
  }

  const golden::GoldenFile file_ = golden::read_golden(GetParam());
  const Network net_ = make_network();
};

void check_names(const Layout& layout, const std::vector<golden::Expected>& expected) {
  ASSERT_EQ(layout.segments().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(layout.segments()[i].name, expected[i].name);
    EXPECT_EQ(layout.segments()[i].size, expected[i].size);
  }
}

TEST_P(Golden, HasPyTorchsTensorsInItsOrder) {
  check_names(net_.layout(), file_.tensors);
  check_names(net_.buffers(), file_.buffers);
}

/// Both are in double precision; the file has 12 digits.
TEST_P(Golden, ReferenceComputesWhatPyTorchDoes) {
  Example example = file_.example(net_);
  const Outcome outcome =
      reference_gradient(net_, example.parameters, example.buffers, example.samples, {});
  EXPECT_NEAR(outcome.loss, file_.loss, 1e-12 * file_.loss);
  check(net_.layout(), file_.tensors, outcome.gradient, 1e-9);
  check(net_.buffers(), file_.buffers, example.buffers, 1e-10);

  const Doubles logits =
      reference_logits(net_, example.parameters, example.buffers, example.samples.images);
  ASSERT_EQ(logits.size(), file_.logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], file_.logits[i], 1e-9);
}

/// In single precision: the loss to 1e-6 and every gradient tensor to 1e-4; the estimate must be
/// below half of that, so that an error of 1e-4 does not pass.
TEST_P(Golden, ProgramComputesWhatPyTorchDoes) {
  Example example = file_.example(net_);
  engine::cpu::FloatProgram program(net_, file_.batch, file_.loss_kind);
  const auto outcome = engine::run_gradient(program, example, {.seed = 1});
  EXPECT_NEAR(outcome.loss, file_.loss, 1e-6 * file_.loss);
  check(net_.layout(), file_.tensors, engine::to_doubles(outcome.gradient), 0.5e-4);
  check(net_.buffers(), file_.buffers, engine::to_doubles(outcome.buffers), 1e-5);

  example.buffers = engine::to_doubles(outcome.buffers);
  const std::vector<float> logits = engine::run_logits(program, net_.outputs(), example);
  EXPECT_LE(engine::distance(logits, file_.logits), 1e-4 * engine::norm(file_.logits));
}

INSTANTIATE_TEST_SUITE_P(Files, Golden,
                         ::testing::Values("cnn", "lenet5", "resnet20", "resnet20_evonorm", "zoo",
                                           "mlp_mse", "cnn_huber"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace hearsay::model
