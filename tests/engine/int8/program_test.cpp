#include "hearsay/engine/cpu/int8/program.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/run_program.h"
#include "hearsay/backend/cpu/int8/product.h"
#include "hearsay/core/error.h"
#include "hearsay/model/models.h"
#include "support/instruction_set.h"

namespace hearsay::engine {
namespace {

using cpu::int8::Program;
using model::Network;

/// A network in 8 bits approximates the one in double: per model the least cosine between their
/// gradients, and the largest distance of the logits relative to their norm.
struct Case {
  const char* name;
  const char* model;
  model::Shape input;
  double cosine, distance;
};
std::ostream& operator<<(std::ostream& out, const Case& test) { return out << test.name; }

constexpr std::size_t kBatch = 11;  // a whole chunk and a part of one

struct Results {
  double loss = 0;
  std::vector<float> gradient, logits;
  bool operator==(const Results&) const = default;
};

class Int8Program : public ::testing::TestWithParam<Case> {
 protected:
  const Network net_ = model::make_model(GetParam().model, GetParam().input, 10);
  const model::Example example_ = make_example(net_, kBatch, 1);
  const std::vector<float> parameters_ = [&] {
    std::vector<float> x(net_.layout().dim());
    net_.initialize(3, x);
    return x;
  }();
  const StreamKey key_{.seed = 5, .peer = 2, .round = 7};

  Results run(Program& program) const {
    Results found;
    found.gradient.assign(parameters_.size(), 7.0f);
    found.logits.assign(kBatch * net_.outputs(), 7.0f);
    std::ranges::copy(to_floats(example_.samples.images), program.images().begin());
    found.loss =
        program.gradient(parameters_, {}, example_.samples.targets(), key_, found.gradient);
    std::ranges::copy(to_floats(example_.samples.images), program.images().begin());
    program.outputs(parameters_, {}, found.logits);
    return found;
  }
};

TEST_P(Int8Program, ApproximatesTheNetworkInDouble) {
  Program program(net_, kBatch);
  const Results found = run(program);
  const model::Doubles parameters = to_doubles(parameters_);
  model::Doubles buffers;
  const model::Outcome exact = reference_gradient(net_, parameters, buffers, example_.samples,
                                                  dropped_by(net_, key_.stream(Purpose::kDropout)));
  EXPECT_NEAR(found.loss, exact.loss, 0.05 * exact.loss);
  EXPECT_GE(cosine(found.gradient, exact.gradient), GetParam().cosine);
  const model::Doubles logits =
      reference_logits(net_, parameters, buffers, example_.samples.images);
  EXPECT_LE(distance(found.logits, logits), GetParam().distance * norm(logits));
}

TEST_P(Int8Program, GivesTheSameBitsOnEveryInstructionSet) {
  Program program(net_, kBatch);
  const Results expected = run(program);
  EXPECT_EQ(run(program), expected);  // nothing is left of the first run
  for (std::string_view set : backend::cpu::byte_product_sets()) {
    if (!backend::cpu::has_byte_product_set(set)) continue;
    backend::cpu::use_byte_product_set(set);
    EXPECT_EQ(run(program), expected) << set;
  }
  backend::cpu::use_byte_product_set("");
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const support::InstructionSet use(target);
    EXPECT_EQ(run(program), expected) << hwy::TargetName(target);
  }
}

TEST_P(Int8Program, HasNoLossIfAParameterIsNotFinite) {
  Program program(net_, kBatch);
  for (const float bad : {std::nanf(""), INFINITY}) {
    std::vector<float> parameters = parameters_;
    parameters[parameters.size() / 2] = bad;
    std::vector<float> gradient(parameters.size());
    std::ranges::copy(to_floats(example_.samples.images), program.images().begin());
    EXPECT_TRUE(
        std::isnan(program.gradient(parameters, {}, example_.samples.targets(), key_, gradient)));
  }
}

TEST_P(Int8Program, HasNoLossIfAnImageIsNotFinite) {
  Program program(net_, kBatch);
  for (const float bad : {std::nanf(""), INFINITY}) {
    std::vector<float> images = to_floats(example_.samples.images), gradient(parameters_.size());
    images[images.size() / 2] = bad;
    std::ranges::copy(images, program.images().begin());
    EXPECT_TRUE(
        std::isnan(program.gradient(parameters_, {}, example_.samples.targets(), key_, gradient)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, Int8Program,
    ::testing::Values(Case{"Logistic", "logistic", {1, 8, 8}, 0.99, 0.05},
                      Case{"Mlp", "mlp", {1, 8, 8}, 0.98, 0.05},
                      Case{"Cnn", "cnn", {1, 8, 8}, 0.97, 0.1},
                      Case{"Lenet5", "lenet5", {3, 32, 32}, 0.97, 0.1},
                      Case{"Resnet20", "resnet20:norm=range-evonorm", {3, 16, 16}, 0.97, 0.1}),
    [](const auto& test) { return test.param.name; });

/// A machine lacks some instruction sets: those are named as skipped.
class Int8OnASet : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Int8OnASet, NetworksHaveTheBitsOfPlainCode) {
  if (!backend::cpu::has_byte_product_set(GetParam())) {
    GTEST_SKIP() << "this machine has no " << GetParam();
  }
  const Network net = model::make_model("resnet20:norm=range-evonorm", {3, 16, 16}, 10);
  const model::Example example = make_example(net, 3, 1);
  const std::vector<float> parameters = to_floats(example.parameters);
  const auto gradient_on = [&](std::string_view set) {
    Program program(net, 3);
    std::vector<float> gradient(parameters.size());
    std::ranges::copy(to_floats(example.samples.images), program.images().begin());
    backend::cpu::use_byte_product_set(set);
    program.gradient(parameters, {}, example.samples.targets(), {}, gradient);
    backend::cpu::use_byte_product_set("");
    return gradient;
  };
  EXPECT_EQ(gradient_on(GetParam()), gradient_on("plain"));
}

std::string name_of_set(const ::testing::TestParamInfo<std::string_view>& test) {
  std::string name(test.param);
  std::erase(name, '-');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Sets, Int8OnASet, ::testing::ValuesIn(backend::cpu::byte_product_sets()),
                         name_of_set);

TEST(Int8ProgramCheck, NamesTheNormThatWouldDo) {
  for (const char* norm : {"batch", "group", "evonorm", "range-evonorm-sigmoid"}) {
    const Network net = model::make_model(std::string("resnet20:norm=") + norm, {3, 32, 32}, 10);
    try {
      Program(net, 2);
      ADD_FAILURE() << norm << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string_view(error.what()).find("norm=range-evonorm"), std::string_view::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace hearsay::engine
