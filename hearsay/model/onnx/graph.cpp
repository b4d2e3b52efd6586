#include "hearsay/model/onnx/graph.h"

#include <bit>

#include <fmt/format.h>

namespace hearsay::model::onnx {

namespace {

// Numbers of fields and enums, from onnx.proto.
namespace attribute {
constexpr unsigned kName = 1, kFloat = 2, kInt = 3, kInts = 8, kType = 20;
constexpr std::int64_t kFloatType = 1, kIntType = 2, kIntsType = 7;
}  // namespace attribute
namespace node_proto {
constexpr unsigned kInput = 1, kOutput = 2, kName = 3, kOperation = 4, kAttribute = 5;
}
namespace tensor {
constexpr unsigned kDims = 1, kDataType = 2, kName = 8, kRawData = 9;
constexpr std::int64_t kFloat = 1, kInt64 = 7;
}  // namespace tensor
namespace graph_proto {
constexpr unsigned kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12;
}

template <class T>
std::string_view raw(std::span<const T> values) {
  static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

Message tensor_proto(std::string_view name, const Integers& shape, std::int64_t type,
                     std::string_view bytes) {
  Message proto;
  for (const std::int64_t extent : shape) proto.integer(tensor::kDims, extent);
  proto.integer(tensor::kDataType, type).text(tensor::kName, name).text(tensor::kRawData, bytes);
  return proto;
}

/// A ValueInfoProto of floats whose first extent is open.
Message value_info(std::string_view name, const Integers& shape_of_one) {
  Message shape;  // TensorShapeProto, its dim = 1 with dim_value = 1 or dim_param = 2
  shape.message(1, Message().text(2, "N"));
  for (const std::int64_t extent : shape_of_one) shape.message(1, Message().integer(1, extent));
  const Message type = Message().integer(1, tensor::kFloat).message(2, shape);
  return Message().text(1, name).message(2, Message().message(1, type));
}

}  // namespace

Message& Message::real(unsigned field, float value) {
  key(field, 5);
  bytes_ += raw(std::span<const float>(&value, 1));
  return *this;
}

Attribute::Attribute(std::string_view name, std::int64_t value) {
  message.text(attribute::kName, name)
      .integer(attribute::kInt, value)
      .integer(attribute::kType, attribute::kIntType);
}
Attribute::Attribute(std::string_view name, float value) {
  message.text(attribute::kName, name)
      .real(attribute::kFloat, value)
      .integer(attribute::kType, attribute::kFloatType);
}
Attribute::Attribute(std::string_view name, const Integers& values) {
  message.text(attribute::kName, name);
  for (const std::int64_t value : values) message.integer(attribute::kInts, value);
  message.integer(attribute::kType, attribute::kIntsType);
}

std::string Graph::node(std::string_view operation, std::string_view name,
                        const std::vector<std::string>& inputs,
                        const std::vector<Attribute>& attributes) {
  const std::string output = unique(name);
  Message proto;
  for (const std::string& input : inputs) proto.text(node_proto::kInput, input);
  proto.text(node_proto::kOutput, output)
      .text(node_proto::kName, output)
      .text(node_proto::kOperation, operation);
  for (const Attribute& attribute : attributes) {
    proto.message(node_proto::kAttribute, attribute.message);
  }
  nodes_.message(graph_proto::kNode, proto);
  return output;
}

std::string Graph::constant(std::string_view name, const Integers& shape,
                            std::span<const float> values) {
  const std::string known = unique(name);
  constants_.message(graph_proto::kInitializer,
                     tensor_proto(known, shape, tensor::kFloat, raw(values)));
  return known;
}

std::string Graph::constant(std::string_view name, const Integers& values) {
  const std::string known = unique(name);
  constants_.message(graph_proto::kInitializer,
                     tensor_proto(known, {static_cast<std::int64_t>(values.size())}, tensor::kInt64,
                                  raw(std::span(values))));
  return known;
}

std::string Graph::input(std::string_view name, const Integers& shape_of_one) {
  const std::string known = unique(name);
  inputs_.message(graph_proto::kInput, value_info(known, shape_of_one));
  return known;
}

void Graph::output(const std::string& value, std::string_view name, const Integers& shape_of_one) {
  const std::string known = node("Identity", name, {value});
  outputs_.message(graph_proto::kOutput, value_info(known, shape_of_one));
}

Message Graph::message(std::string_view name) const {
  Message graph = nodes_;
  graph.text(graph_proto::kName, name);
  graph.append(constants_);
  graph.append(inputs_);
  graph.append(outputs_);
  return graph;
}

std::string Graph::unique(std::string_view name) {
  std::string candidate(name);
  for (int k = 2; !names_.insert(candidate).second; ++k) candidate = fmt::format("{}_{}", name, k);
  return candidate;
}

}  // namespace hearsay::model::onnx
