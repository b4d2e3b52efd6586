#include "hearsay/model/models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::model {
namespace {

std::string error_of(std::string_view spec, Shape input, std::size_t classes = 10) {
  try {
    make_model(spec, input, classes);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

/// Every row's example, and every value of every enumerated parameter.
std::set<std::string> specs() {
  std::set<std::string> all;
  for (const ModelEntry& entry : model_registry()) {
    all.emplace(entry.example);
    for (const Parameter& parameter : entry.parameters) {
      std::istringstream values{std::string(parameter.allowed)};
      if (parameter.key == "hidden") values.str("3|30+20+10");
      for (std::string value; std::getline(values, value, '|');) {
        all.insert(fmt::format("{}:{}={}", entry.name, parameter.key, value));
      }
    }
  }
  return all;
}

class ModelContract : public ::testing::TestWithParam<std::string> {
 protected:
  Network net_ = make_model(GetParam(), {3, 32, 32}, 7);
};

TEST_P(ModelContract, EndsInAsManyOutputsAsAskedFor) {
  EXPECT_EQ(net_.outputs(), 7u);
  EXPECT_EQ(net_.shape(net_.operations().size() - 1), (Shape{7, 1, 1}));
  EXPECT_EQ(make_model(GetParam(), {3, 32, 32}, 1).outputs(), 1u);
}

TEST_P(ModelContract, NamesAreUnique) {
  std::set<std::string> names;
  for (const Operation& operation : net_.operations()) {
    EXPECT_TRUE(names.insert(operation.name).second) << operation.name;
  }
}

TEST_P(ModelContract, UsesEveryValueItMakes) {
  std::vector<bool> used(net_.operations().size());
  for (const Operation& operation : net_.operations()) {
    for (Value value : operation.inputs) used[value] = true;
  }
  used.back() = true;
  EXPECT_EQ(std::ranges::count(used, false), 0);
}

INSTANTIATE_TEST_SUITE_P(Registry, ModelContract, ::testing::ValuesIn(specs()),
                         [](const ::testing::TestParamInfo<std::string>& test) {
                           std::string name = test.param;
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

/// Parameter counts implied by the papers' tables and byte counts, or PyTorch's.
struct Count {
  const char* spec;
  Shape input;
  std::size_t classes, parameters;
};

TEST(Models, HaveThePapersNumberOfParameters) {
  constexpr Shape kCifar{3, 32, 32};
  for (const Count& count : {
           Count{"resnet:depth=20", kCifar, 10, 269'722},
           {"resnet20", kCifar, 10, 269'722},
           {"resnet20:shortcut=B", kCifar, 10, 272'474},
           {"resnet20:shortcut=B,norm=evonorm", kCifar, 10, 273'258},
           {"resnet20:shortcut=B,norm=range-evonorm", kCifar, 10, 273'258},
           {"resnet54:shortcut=A,norm=batch", kCifar, 10, 755'802},
           {"resnet54:shortcut=B,norm=batch", kCifar, 10, 758'554},
           {"resnet54", kCifar, 10, 760'458},
           {"resnet:depth=50,shortcut=B,norm=evonorm", kCifar, 10, 760'458},
           {"resnet:depth=56", kCifar, 10, 853'018},
           {"resnet110", kCifar, 10, 1'727'962},
           {"resnet110", kCifar, 100, 1'733'812},
           {"vgg11", kCifar, 10, 9'488'266},
           {"vgg11:norm=batch", kCifar, 10, 9'493'770},
           {"vgg11:norm=evonorm", kCifar, 10, 9'496'522},
           {"resnet18:norm=batch", {3, 224, 224}, 1000, 11'689'512},  // torchvision's
           {"lenet5", {1, 28, 28}, 10, 61'706},
           {"lenet5", {1, 32, 32}, 10, 61'706},
           {"cnn", {1, 8, 8}, 10, 160 + 4'640 + 5'130},
           {"mlp:hidden=5+3", {1, 8, 8}, 10, 65 * 5 + 6 * 3 + 4 * 10},
           {"logistic", {1, 8, 8}, 10, 650},
           {"linear", {5, 1, 1}, 2, 12},
       }) {
    EXPECT_EQ(make_model(count.spec, count.input, count.classes).layout().dim(), count.parameters)
        << count.spec;
  }
}

std::vector<std::string> tensors(const Network& net) {
  std::vector<std::string> names;
  for (const Segment& segment : net.layout().segments()) names.push_back(segment.name);
  return names;
}

TEST(Models, NameResnetTensorsAsAkamaster) {
  const auto names = tensors(make_model("resnet20:shortcut=B", {3, 32, 32}, 10));
  const std::vector<std::string> first{
      "conv1.weight",          "bn1.weight",          "bn1.bias",
      "layer1.0.conv1.weight", "layer1.0.bn1.weight", "layer1.0.bn1.bias"};
  EXPECT_TRUE(std::ranges::equal(first, std::span(names).first(first.size())));
  for (const char* name : {"layer2.0.shortcut.0.weight", "layer2.0.shortcut.1.weight",
                           "layer3.2.conv2.weight", "linear.bias"}) {
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  }
}

/// So that in the backward pass a convolution adds to its gradient last, which engines exploit.
TEST(Models, ReadTheInputOfAResidualBlockByAConvolutionFirst) {
  for (const char* spec : {"resnet20:shortcut=A", "resnet20:shortcut=B"}) {
    const Network net = make_model(spec, {3, 32, 32}, 10);
    std::vector<std::vector<Value>> readers(net.operations().size());
    for (Value v = 0; v < net.operations().size(); ++v) {
      for (Value input : net.operations()[v].inputs) readers[input].push_back(v);
    }
    std::size_t blocks = 0;
    for (const std::vector<Value>& all : readers) {
      if (all.size() < 2) continue;
      ++blocks;
      const Operation& first = net.operations()[all.front()];
      EXPECT_TRUE(std::holds_alternative<Conv2d>(first.kind)) << spec << " " << first.name;
    }
    EXPECT_EQ(blocks, 9u) << spec;
  }
}

TEST(Models, NumberVggTensorsAsTorchvision) {
  const auto names = tensors(make_model("vgg11", {3, 32, 32}, 10));
  for (const char* name :
       {"features.0.weight", "features.3.weight", "features.6.weight", "features.8.weight",
        "features.11.weight", "features.13.weight", "features.16.weight", "features.18.bias",
        "classifier.1.weight", "classifier.3.bias"}) {
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  }
}

TEST(Models, WithEvoNormHaveNoRelu) {
  for (const char* spec : {"resnet20:norm=evonorm", "resnet54", "resnet18", "cnn:norm=evonorm"}) {
    const Network net = make_model(spec, {3, 32, 32}, 10);
    for (const Operation& operation : net.operations()) {
      EXPECT_FALSE(std::holds_alternative<Relu>(operation.kind)) << spec << " " << operation.name;
    }
  }
}

TEST(Models, StartTheLastNormOfResidualBlocksAtZeroIfAskedTo) {
  for (const std::string spec : {"resnet20:shortcut=B,norm=range-evonorm", "resnet20",
                                 "resnet:depth=20,norm=group", "resnet54", "resnet18"}) {
    const char next = spec.find(':') == std::string::npos ? ':' : ',';
    const Network plain = make_model(spec, {3, 32, 32}, 10);
    const Network off = make_model(spec + next + "zero_last=0", {3, 32, 32}, 10);
    const Network on = make_model(spec + next + "zero_last=1", {3, 32, 32}, 10);
    std::vector<float> a(plain.layout().dim()), b(a), c(a);
    plain.initialize(1, a);
    off.initialize(1, b);
    on.initialize(1, c);
    EXPECT_EQ(a, b) << spec;
    std::size_t zeros = 0, blocks = 0;
    for (const Operation& operation : plain.operations()) {
      blocks += std::holds_alternative<Add>(operation.kind) ? 1 : 0;
    }
    for (const Segment& segment : on.layout().segments()) {
      const auto of = [&](const std::vector<float>& x) {
        return std::span(x).subspan(segment.offset, segment.size);
      };
      if (segment.name.ends_with(".bn2.weight")) {
        ++zeros;
        EXPECT_TRUE(std::ranges::all_of(of(a), [](float x) { return x == 1; })) << segment.name;
        EXPECT_TRUE(std::ranges::all_of(of(c), [](float x) { return x == 0; })) << segment.name;
      } else {
        EXPECT_TRUE(std::ranges::equal(of(a), of(c))) << spec << " " << segment.name;
      }
    }
    EXPECT_EQ(zeros, blocks) << spec;
    EXPECT_GE(zeros, 8u) << spec;
  }
  EXPECT_EQ(error_of("resnet20:norm=none,zero_last=1", {3, 32, 32}),
            "[resnet20] zero_last=1 is about the last norm of a block, and norm is none; give a "
            "norm, say norm=batch, or drop zero_last");
}

TEST(Models, StartFiniteAndFromTheSeedAlone) {
  for (const char* spec : {"logistic", "mlp", "cnn", "lenet5", "resnet20:norm=evonorm"}) {
    const Network net = make_model(spec, {1, 16, 16}, 10);
    std::vector<float> a(net.layout().dim()), b(a), c(a);
    net.initialize(1, a);
    net.initialize(1, b);
    net.initialize(2, c);
    EXPECT_EQ(a, b) << spec;
    EXPECT_EQ(a == c, spec == std::string("logistic")) << spec;
    EXPECT_TRUE(std::ranges::all_of(a, [](float x) { return std::isfinite(x); })) << spec;
  }
}

TEST(Models, TakeImagesOfOtherSizes) {
  EXPECT_EQ(make_model("resnet20:norm=range-evonorm", {1, 8, 8}, 10).outputs(), 10u);
  EXPECT_EQ(make_model("resnet20", {3, 33, 47}, 10).layout().dim(), 269'722u);
  EXPECT_EQ(make_model("vgg11", {3, 224, 224}, 10).layout().dim(), 9'488'266u);
  EXPECT_EQ(make_model("cnn", {3, 1, 1}, 2).outputs(), 2u);
}

TEST(Models, SayWhatImagesTheyNeed) {
  EXPECT_EQ(error_of("lenet5", {1, 8, 8}),
            "[lenet5] got images of 1x8x8, needs at least 16x16 pixels");
  EXPECT_EQ(error_of("vgg11:norm=batch", {1, 28, 28}),
            "[vgg11] got images of 1x28x28, needs at least 32x32 pixels");
  EXPECT_EQ(error_of("resnet18", {3, 31, 64}),
            "[resnet18] got images of 3x31x64, needs at least 32x32 pixels");
  EXPECT_EQ(
      error_of("resnet20:norm=range-evonorm", {3, 4, 4}),
      "[resnet20:shortcut=A,norm=range-evonorm,zero_last=0] got images of 3x4x4, which do not fit: "
      "layer2.0.bn1: a group of 16 values cannot be cut into 16 runs of 2 or more; "
      "use evonorm");
  EXPECT_EQ(error_of("cnn", {1, 8, 8}, 0), "[cnn] got 0 outputs; there must be at least 1");
}

TEST(Models, SayWhatTheirParametersMayBe) {
  EXPECT_EQ(error_of("resnet:depth=21", {3, 32, 32}),
            "[resnet] depth must be one of 20, 32, 44, 50, 56, 110, got 21");
  EXPECT_EQ(error_of("resnet20:norm=layer", {3, 32, 32}),
            "[resnet20] norm must be one of none, batch, group, evonorm, range-evonorm, "
            "range-evonorm-hard, range-evonorm-sigmoid, got layer");
  for (const char* hidden : {"0", "64+", "+64", "64x64", "-3", "64++64", "99999999"}) {
    EXPECT_EQ(
        error_of(std::string("mlp:hidden=") + hidden, {1, 8, 8}),
        std::string("[mlp] hidden must be widths in [1, 1048576] joined by +, as 64+64, got ") +
            hidden);
  }
  EXPECT_NE(error_of("resnet21", {3, 32, 32}).find("did you mean 'resnet2"), std::string::npos);
}

}  // namespace
}  // namespace hearsay::model
