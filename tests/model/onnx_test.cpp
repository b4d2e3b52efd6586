#include "hearsay/model/onnx/onnx.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "hearsay/core/random.h"
#include "hearsay/model/models.h"
#include "hearsay/model/onnx/graph.h"

/// What the files hold; that runtimes compute what hearsay computes is tested in tests/onnx.
namespace hearsay::model {
namespace {

/// The fields of a message, read by the rules of protocol buffers.
struct Fields {
  explicit Fields(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::uint64_t key = varint(bytes);
      const auto field = static_cast<unsigned>(key >> 3);
      std::size_t size = 4;
      if ((key & 7) == 0) {
        numbers[field].push_back(static_cast<std::int64_t>(varint(bytes)));
        continue;
      }
      if ((key & 7) == 2) {
        size = varint(bytes);
      } else if ((key & 7) != 5) {
        throw std::runtime_error("a type of field that is not used");
      }
      if (size > bytes.size()) throw std::runtime_error("a field that is cut off");
      texts[field].emplace_back(bytes.substr(0, size));
      bytes.remove_prefix(size);
    }
  }

  Fields message(unsigned field) const { return Fields(texts.at(field).at(0)); }

  std::map<unsigned, std::vector<std::int64_t>> numbers;
  std::map<unsigned, std::vector<std::string>> texts;

 private:
  static std::uint64_t varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      if (bytes.empty() || shift > 63) throw std::runtime_error("a number that does not end");
      const auto byte = static_cast<std::uint8_t>(bytes.front());
      bytes.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
};

TEST(OnnxMessage, IsEncodedAsProtocolBuffersAre) {
  onnx::Message inner;
  inner.integer(1, 150);  // the example of protobuf.dev/programming-guides/encoding
  EXPECT_EQ(inner.bytes(), "\x08\x96\x01");
  onnx::Message outer;
  outer.text(2, "testing").message(3, inner).integer(20, -1).real(5, 1.0f);
  EXPECT_EQ(outer.bytes(), std::string("\x12\x07testing"
                                       "\x1a\x03\x08\x96\x01"
                                       "\xa0\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                       "\x2d\0\0\x80\x3f",
                                       9 + 5 + 12 + 5));
}

TEST(OnnxGraph, GivesEveryValueItsOwnName) {
  onnx::Graph graph;
  EXPECT_EQ(graph.input("x", {1}), "x");
  EXPECT_EQ(graph.node("Relu", "x", {"x"}), "x_2");
  EXPECT_EQ(graph.constant("x", {3, 4}), "x_3");
}

Description describe(std::string_view spec, Shape input, std::size_t outputs) {
  return {.model = std::string(spec),
          .input = input,
          .mean = std::vector<float>(input.channels, 1.0f),
          .deviation = std::vector<float>(input.channels, 2.0f),
          .task = "classification",
          .loss = "cross-entropy",
          .outputs = outputs};
}

class OnnxContract : public ::testing::TestWithParam<std::string> {};

/// Every tensor is a constant under its own name with its own bytes, every input of a node is known
/// before it, and the description comes along.
TEST_P(OnnxContract, HoldsTheWholeModel) {
  const Shape input{3, 32, 32};
  const Network net = make_model(GetParam(), input, 7);
  const Description description = describe(GetParam(), input, 7);
  std::vector<float> parameters(net.layout().dim()), buffers(net.buffers().dim());
  Random random(1, Purpose::kTest);
  for (float& x : parameters) x = static_cast<float>(random.normal());
  for (float& x : buffers) x = static_cast<float>(random.uniform());

  const Fields model(to_onnx(net, description, parameters, buffers));
  EXPECT_EQ(model.numbers.at(1), std::vector<std::int64_t>{7});
  EXPECT_EQ(model.message(8).numbers.at(2), std::vector<std::int64_t>{13});
  EXPECT_EQ(model.message(14).texts.at(2).at(0), to_json(description));

  const Fields graph = model.message(7);
  std::map<std::string, std::string> constants;
  std::set<std::string> known{"input"};
  for (const std::string& bytes : graph.texts.at(5)) {
    const Fields tensor(bytes);
    constants[tensor.texts.at(8).at(0)] = tensor.texts.at(9).at(0);
    EXPECT_TRUE(known.insert(tensor.texts.at(8).at(0)).second);
  }
  for (const auto& [layout, values] :
       {std::pair(&net.layout(), &parameters), std::pair(&net.buffers(), &buffers)}) {
    for (const Segment& segment : layout->segments()) {
      const std::string bytes(reinterpret_cast<const char*>(values->data() + segment.offset),
                              4 * segment.size);
      EXPECT_EQ(constants[segment.name], bytes) << segment.name;
    }
  }
  for (const std::string& bytes : graph.texts.at(1)) {
    const Fields node(bytes);
    for (const std::string& value : node.texts.at(1)) EXPECT_TRUE(known.contains(value)) << value;
    EXPECT_TRUE(known.insert(node.texts.at(2).at(0)).second);
  }
  EXPECT_EQ(graph.message(12).texts.at(1).at(0), "logits");
  EXPECT_TRUE(known.contains("logits"));
}

INSTANTIATE_TEST_SUITE_P(Models, OnnxContract,
                         ::testing::Values("logistic", "mlp", "lenet5", "cnn", "cnn:norm=batch",
                                           "cnn:norm=group", "cnn:norm=evonorm",
                                           "cnn:norm=range-evonorm",
                                           "cnn:norm=range-evonorm-sigmoid", "resnet20",
                                           "resnet20:shortcut=B", "resnet18", "vgg11:norm=batch"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase_if(name, [](char c) { return !std::isalnum(c); });
                           return name;
                         });

/// Operations that no model of the registry has, and values that change between the two forms.
TEST(Onnx, KnowsEveryOperation) {
  Network net({2, 4, 4});
  Value x = net.add("ln", LayerNorm{}, {net.input()});
  x = net.add("gelu", Gelu{}, {x});
  x = net.add("flatten", Flatten{}, {x});
  x = net.add("fc", Linear{.out = 8, .bias = false}, {x});
  const Value wide = net.add("norm", BatchNorm{}, {x});
  x = net.add("sum", Add{}, {wide, x});
  x = net.add("drop", Dropout{}, {x});
  net.add("conv", Conv2d{.out = 3, .kernel = 1}, {x});
  const std::vector<float> parameters(net.layout().dim(), 0.5f), buffers(net.buffers().dim(), 1.0f);
  Description description = describe("mlp", {2, 4, 4}, 3);
  description.task = "regression";
  description.target_mean = {1, 2, 3};
  description.target_deviation = {4, 5, 6};
  const Fields graph = Fields(to_onnx(net, description, parameters, buffers)).message(7);
  std::multiset<std::string> operators;
  for (const std::string& bytes : graph.texts.at(1)) operators.insert(Fields(bytes).texts.at(4)[0]);
  for (const char* name : {"InstanceNormalization", "Erf", "Gemm", "BatchNormalization", "Conv"}) {
    EXPECT_EQ(operators.count(name), 1u) << name;
  }
  EXPECT_EQ(graph.message(12).texts.at(1).at(0), "prediction");
}

}  // namespace
}  // namespace hearsay::model
