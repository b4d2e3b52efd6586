#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "engine/cuda/gpu.h"
#include "hearsay/core/error.h"
#include "hearsay/engine/cpu/int8/program.h"
#include "hearsay/model/models.h"

namespace hearsay::engine {
namespace {

using model::Network;
using model::Shape;

/// Networks in 8 bits are defined to the bit (engine/quantize.h): the GPU computes what the CPU
/// does, which is tested against plain loops. Only the loss may differ in its last bits, whose
/// exponentials are the device's.
struct Case {
  const char* name;
  const char* model;
  Shape input;
  std::size_t batch;
};
std::ostream& operator<<(std::ostream& out, const Case& test) { return out << test.name; }

std::size_t differing(std::span<const float> a, std::span<const float> b) {
  std::size_t count = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    count += std::bit_cast<std::uint32_t>(a[i] + 0.0f) != std::bit_cast<std::uint32_t>(b[i] + 0.0f);
  }
  return count;
}

class Int8Gpu : public GpuTest, public ::testing::WithParamInterface<Case> {
 protected:
  const Network net_ = model::make_model(GetParam().model, GetParam().input, 10);

  std::vector<Example> examples(std::size_t peers) const {
    std::vector<Example> all;
    for (std::size_t i = 0; i < peers; ++i) {
      all.push_back(model::make_example(net_, GetParam().batch, 1 + i));
    }
    return all;
  }
};

TEST_P(Int8Gpu, HasTheBitsOfTheCpu) {
  const auto all = examples(2);
  GpuProgram gpu(net_, all, "int8");
  const std::vector<float> logits = gpu.logits();
  const auto found = gpu.gradient();
  cpu::int8::Program program(net_, GetParam().batch);
  for (std::uint32_t i = 0; i < 2; ++i) {
    SCOPED_TRACE("peer " + std::to_string(i));
    const auto expected_logits = run_logits(program, net_.outputs(), all[i]);
    const auto own = std::span(logits).subspan(i * expected_logits.size(), expected_logits.size());
    EXPECT_EQ(differing(own, expected_logits), 0U) << "logits";
    const ProgramOutcome expected = run_gradient(program, all[i], {3, i, 2});
    EXPECT_NEAR(found[i].loss, expected.loss, 1e-12 * expected.loss);
    for (const Segment& segment : net_.layout().segments()) {
      EXPECT_EQ(differing(std::span(found[i].gradient).subspan(segment.offset, segment.size),
                          std::span(expected.gradient).subspan(segment.offset, segment.size)),
                0U)
          << "of " << segment.size << " entries of " << segment.name << " differ";
    }
    EXPECT_GT(norm(to_doubles(expected.gradient)), 0) << "nothing was compared";
  }
}

TEST_P(Int8Gpu, GivesTheSameBitsAloneAndAgain) {
  const auto all = examples(2);
  GpuProgram together(net_, all, "int8");
  const auto found = together.gradient();
  EXPECT_EQ(together.gradient(), found);
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(GpuProgram(net_, {all[i]}, "int8", i).gradient().front(), found[i]);
  }
}

TEST_P(Int8Gpu, HasNoLossIfAParameterOrAnImageIsNotFinite) {
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    for (const bool of_model : {true, false}) {
      auto all = examples(2);
      auto& values = of_model ? all[1].parameters : all[1].samples.images;
      values[values.size() / 2] = bad;
      const auto found = GpuProgram(net_, all, "int8").gradient();
      EXPECT_TRUE(std::isfinite(found[0].loss));
      EXPECT_TRUE(std::isnan(found[1].loss))
          << bad << (of_model ? " in the model" : " in an image");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, Int8Gpu,
    ::testing::Values(Case{"Logistic", "logistic", {1, 7, 9}, 19},
                      Case{"Mlp", "mlp", {1, 8, 8}, 11}, Case{"Cnn", "cnn", {3, 9, 7}, 13},
                      Case{"CnnOfOneSample", "cnn", {1, 8, 8}, 1},
                      Case{"CnnOfOneChunk", "cnn:norm=range-evonorm", {3, 8, 8}, 8},
                      Case{"Lenet5", "lenet5", {3, 17, 19}, 10},
                      Case{"Lenet5Padded", "lenet5", {1, 28, 28}, 3},
                      Case{"Resnet20", "resnet20:norm=range-evonorm", {3, 32, 32}, 11},
                      Case{"Resnet20Small", "resnet20:norm=range-evonorm", {3, 8, 8}, 32},
                      Case{"Resnet20B", "resnet20:norm=range-evonorm,shortcut=B", {3, 8, 8}, 9},
                      Case{"Resnet20WithoutNorm", "resnet20:norm=none", {3, 9, 11}, 5},
                      Case{"Resnet20BWithoutNorm", "resnet20:norm=none,shortcut=B", {3, 7, 5}, 3},
                      Case{"Vgg11", "vgg11:norm=range-evonorm", {3, 32, 32}, 10},
                      Case{"Resnet18InBands", "resnet18:norm=range-evonorm", {3, 128, 128}, 2}),
    [](const auto& test) { return test.param.name; });

class Int8GpuRefusal : public GpuTest {};

TEST_F(Int8GpuRefusal, NamesTheNormThatWouldDo) {
  Gpu gpu("int8");
  const Network net = model::make_model("resnet20:norm=batch", {3, 8, 8}, 10);
  try {
    cuda::make_program(net, 1, 2, cuda::Program::Use::kTraining, gpu.context());
    FAIL() << "trains batch norm in 8 bits";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("norm=range-evonorm"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace hearsay::engine
