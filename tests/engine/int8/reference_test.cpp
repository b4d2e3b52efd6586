#include "engine/int8/reference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/run_program.h"
#include "hearsay/backend/cpu/int8/product.h"
#include "hearsay/core/error.h"
#include "hearsay/engine/cpu/int8/program.h"
#include "hearsay/model/models.h"

/// Programs of 8 bits against the reference: loss, logits and gradient, all to the bit.
namespace hearsay::engine {
namespace {

using cpu::int8::Program;
using model::Network;
using model::Shape;

constexpr StreamKey kKey{.seed = 5, .peer = 2, .round = 7};

/// Samples differ in scale by up to 2^6; the third is zero, the fourth is the same number
/// everywhere, so that all codes of a run are its extremes.
Example example_of(const Network& net, std::size_t batch) {
  Example example = model::make_example(net, batch, 1);
  const std::size_t size = net.shape(0).size();
  for (std::size_t e = 0; e < example.samples.images.size(); ++e) {
    double& x = example.samples.images[e];
    const std::size_t n = e / size;
    x = n % 9 == 2 ? 0 : n % 9 == 3 ? 1 : std::ldexp(x, static_cast<int>(n % 4) * 2 - 3);
  }
  return example;
}

Int8Outcome reference_of(const Network& net, const Example& example, const StreamKey& key = kKey,
                         Int8Variant variant = Int8Variant::kDefinition) {
  return int8_reference(net, to_floats(example.parameters), to_floats(example.samples.images),
                        example.samples.targets(), key, example.samples.loss, variant);
}

Int8Outcome outcome_of(Program& program, const Network& net, const Example& example,
                       const StreamKey& key = kKey) {
  const ProgramOutcome found = run_gradient(program, example, key);
  return {.loss = found.loss,
          .logits = run_logits(program, net.outputs(), example),
          .gradient = found.gradient};
}

/// The number of entries that differ; -0 is 0, and NaN differs from all.
std::size_t differing(std::span<const float> x, std::span<const float> y) {
  EXPECT_EQ(x.size(), y.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) count += x[i] == y[i] ? 0 : 1;
  return count;
}

void expect_same_gradient(const Network& net, const Int8Outcome& found,
                          const Int8Outcome& expected) {
  for (const Segment& segment : net.layout().segments()) {
    const auto part = [&](const std::vector<float>& all) {
      return std::span(all).subspan(segment.offset, segment.size);
    };
    EXPECT_EQ(differing(part(found.gradient), part(expected.gradient)), 0U)
        << "of " << segment.size << " entries of " << segment.name << " differ";
  }
}

/// Compares a program, with each of these codes for products of bytes, and the reference.
void expect_same(const Network& net, const Example& example, std::size_t batch,
                 std::span<const std::string_view> sets) {
  Program program(net, batch);
  const Int8Outcome expected = reference_of(net, example);
  const std::vector<float> logits =
      int8_reference_outputs(net, to_floats(example.parameters), to_floats(example.samples.images));
  for (std::string_view set : sets) {
    if (!set.empty() && !backend::cpu::has_byte_product_set(set)) continue;
    SCOPED_TRACE(set);
    backend::cpu::use_byte_product_set(set);
    const Int8Outcome found = outcome_of(program, net, example);
    EXPECT_EQ(found.loss, expected.loss);
    EXPECT_EQ(differing(found.logits, logits), 0U) << "logits";
    expect_same_gradient(net, found, expected);
    EXPECT_GT(norm(to_doubles(found.gradient)), 0) << "nothing was compared";
  }
  backend::cpu::use_byte_product_set("");
}
constexpr std::string_view kFastest[] = {""};

struct Case {
  const char* name;
  const char* model;
  Shape input;
  std::size_t batch;
};
std::ostream& operator<<(std::ostream& out, const Case& test) { return out << test.name; }

class Int8ReferenceModel : public ::testing::TestWithParam<Case> {};

TEST_P(Int8ReferenceModel, HasTheBitsOfTheProgram) {
  const Network net = model::make_model(GetParam().model, GetParam().input, 10);
  expect_same(net, example_of(net, GetParam().batch), GetParam().batch, kFastest);
}

INSTANTIATE_TEST_SUITE_P(
    Models, Int8ReferenceModel,
    ::testing::Values(Case{"Logistic", "logistic", {1, 7, 9}, 19},
                      Case{"Mlp", "mlp", {1, 8, 8}, 11}, Case{"Cnn", "cnn", {3, 9, 7}, 13},
                      Case{"CnnOfOneSample", "cnn", {1, 8, 8}, 1},
                      Case{"CnnOfOneChunk", "cnn:norm=range-evonorm", {3, 8, 8}, 8},
                      Case{"Lenet5", "lenet5", {3, 17, 19}, 10},
                      Case{"Lenet5Padded", "lenet5", {1, 28, 28}, 3},
                      Case{"Resnet20", "resnet20:norm=range-evonorm", {3, 8, 8}, 11},
                      Case{"Resnet20B", "resnet20:norm=range-evonorm,shortcut=B", {3, 8, 8}, 9},
                      Case{"Resnet20WithoutNorm", "resnet20:norm=none", {3, 9, 11}, 5},
                      Case{"Resnet20BWithoutNorm", "resnet20:norm=none,shortcut=B", {3, 7, 5}, 3},
                      Case{"Vgg11", "vgg11:norm=range-evonorm", {3, 32, 32}, 2}),
    [](const auto& test) { return test.param.name; });

/// The bits of a control differ, so those of the program are not equal for lack of a difference.
TEST(Int8Reference, TellsControlsFromTheProgram) {
  const Network net = model::make_model("resnet20:norm=range-evonorm", {3, 8, 8}, 10);
  const Example example = example_of(net, 5);
  Program program(net, 5);
  const Int8Outcome found = outcome_of(program, net, example);
  for (Int8Variant control : {Int8Variant::kMean, Int8Variant::kTruncation,
                              Int8Variant::kNoBifurcation, Int8Variant::kScalePerBatch}) {
    const Int8Outcome other = reference_of(net, example, kKey, control);
    EXPECT_GT(differing(found.gradient, other.gradient), found.gradient.size() / 2);
    EXPECT_EQ(found.loss != other.loss, control == Int8Variant::kScalePerBatch);
  }
  const Int8Outcome other_round = reference_of(net, example, {.seed = 5, .peer = 2, .round = 8});
  EXPECT_GT(differing(found.gradient, other_round.gradient), found.gradient.size() / 2);
}

class Int8ReferenceOperation : public ::testing::TestWithParam<model::OperationCase> {};

/// Between two products, whose gradients show what it passes on; and on the images, of which few
/// channels are stored as they are.
TEST_P(Int8ReferenceOperation, HasTheBitsOfTheProgram) {
  const Network within = model::lens_network(GetParam());
  const bool small = within.layout().dim() < 20000;
  expect_same(within, example_of(within, 11), 11,
              small ? backend::cpu::byte_product_sets() : kFastest);

  Network first(GetParam().input);
  const std::size_t terms = std::holds_alternative<model::Add>(GetParam().kind) ? 2 : 1;
  model::Value x = first.add("operation", GetParam().kind, std::vector(terms, first.input()));
  if (first.shape(x).pixels() > 1) x = first.add("flatten", model::Flatten{}, {x});
  first.add("linear", model::Linear{.out = 3}, {x});
  expect_same(first, example_of(first, 3), 3, kFastest);
}

/// Those that 8 bits train, of the cases that every plan is tested on, and convolutions of many
/// more sizes.
std::vector<model::OperationCase> cases() {
  using namespace model;
  std::vector<OperationCase> found;
  for (const OperationCase& test : operation_cases()) {
    const auto* norm = std::get_if<RangeEvoNorm>(&test.kind);
    const auto* conv = std::get_if<Conv2d>(&test.kind);
    if (norm ? norm->gate == Gate::kSigmoid
             : std::holds_alternative<BatchNorm>(test.kind) ||
                   std::holds_alternative<GroupNorm>(test.kind) ||
                   std::holds_alternative<LayerNorm>(test.kind) ||
                   std::holds_alternative<EvoNorm>(test.kind) ||
                   std::holds_alternative<Gelu>(test.kind)) {
      continue;
    }
    if (conv == nullptr || conv->padding < conv->kernel) found.push_back(test);
  }
  for (const Shape& input :
       {Shape{3, 9, 11}, Shape{16, 7, 5}, Shape{33, 5, 4}, Shape{130, 3, 6}, Shape{512, 2, 3}}) {
    for (std::size_t kernel : {1, 3}) {
      for (std::size_t stride : {1, 2}) {
        for (bool bias : {false, true}) {
          const std::size_t out = bias ? 19 : 64;
          found.push_back({"Conv" + std::to_string(kernel) + "Stride" + std::to_string(stride) +
                               (bias ? "BiasOf" : "Of") + std::to_string(input.channels),
                           input,
                           Conv2d{.out = out,
                                  .kernel = kernel,
                                  .stride = stride,
                                  .padding = kernel / 2,
                                  .bias = bias}});
        }
      }
    }
  }
  found.push_back({"ConvTo512", {48, 3, 3}, Conv2d{.out = 512, .padding = 1}});
  found.push_back({"RangeEvoNormOf512", {512, 1, 3}, RangeEvoNorm{}});
  found.push_back({"RangeEvoNormOfWideImages", {8, 3, 48}, RangeEvoNorm{}});
  return found;
}

INSTANTIATE_TEST_SUITE_P(Operations, Int8ReferenceOperation, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST(Int8Reference, HasTheBitsOfTheProgramForNumbers) {
  const Network net = model::make_model("mlp", {7, 1, 1}, 3);
  Example example = example_of(net, 10);
  example.samples.loss = {.kind = Loss::Kind::kMse};
  Random random(2, Purpose::kTest);
  for (std::size_t i = 0; i < 30; ++i) {
    example.samples.numbers.push_back(static_cast<float>(random.normal()));
  }
  Program program(net, 10, example.samples.loss);
  const Int8Outcome expected = reference_of(net, example);
  const Int8Outcome found = outcome_of(program, net, example);
  EXPECT_EQ(found.loss, expected.loss);
  expect_same_gradient(net, found, expected);
}

TEST(Int8Reference, HasTheBitsOfTheProgramIfAllSamplesAreZero) {
  for (const char* model : {"cnn", "cnn:norm=range-evonorm"}) {
    const Network net = model::make_model(model, {3, 8, 8}, 10);
    Example example = example_of(net, 9);
    std::ranges::fill(example.samples.images, 0.0);
    expect_same(net, example, 9, backend::cpu::byte_product_sets());
    const Segment& first = net.layout().segments().front();
    ASSERT_EQ(first.name, "conv1.weight");
    const std::vector<float> zeros(first.size, 0.0f);
    const Int8Outcome expected = reference_of(net, example);
    EXPECT_EQ(differing(std::span(expected.gradient).first(first.size), zeros), 0U);
  }
}

/// Sums of equal codes 127, as many as 32 bits hold.
TEST(Int8Reference, HasTheBitsOfTheProgramWhereSumsAreLargest) {
  const auto pooled = [](const Shape& images) {
    Network net(images);
    model::Value x = net.add("conv", model::Conv2d{.out = 2, .kernel = 1}, {net.input()});
    x = net.add("pool", model::GlobalAveragePool{}, {x});
    net.add("linear", model::Linear{.out = 2}, {x});
    return net;
  };
  const Network nets[] = {model::make_model("logistic", {1, 1, 132089}, 2),
                          pooled({1, 255, 500}),   // weights: one product per sample
                          pooled({3, 200, 150})};  // one per four samples
  for (const Network& net : nets) {
    Example example = example_of(net, 9);
    std::ranges::fill(example.samples.images, 0.75);
    for (const Segment& segment : net.layout().segments()) {
      for (std::size_t e = 0; e < segment.size; ++e) {
        example.parameters[segment.offset + e] = e < segment.size / 2 ? 0.5 : -0.5;
      }
    }
    expect_same(net, example, 9, kFastest);
  }
  EXPECT_THROW(Program(model::make_model("logistic", {1, 1, 132090}, 2), 1), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::engine
