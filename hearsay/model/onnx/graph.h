#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/model/onnx/message.h"

namespace hearsay::model::onnx {

/// The operator set whose definitions the nodes follow, and the version of the file format that it
/// came with (ONNX 1.8, November 2020).
inline constexpr std::int64_t kOperators = 13, kFormat = 7;

using Integers = std::vector<std::int64_t>;

/// An attribute of a node.
struct Attribute {
  Attribute(std::string_view name, std::int64_t value);
  Attribute(std::string_view name, float value);
  Attribute(std::string_view name, const Integers& values);
  Message message;
};

/// A graph of ONNX while it is built: nodes in an order in which they can be computed, and
/// constants. Values are referred to by their names.
class Graph {
 public:
  /// Appends a node with one output, and returns the name of that: `name`, or that with a number if
  /// it is taken.
  std::string node(std::string_view operation, std::string_view name,
                   const std::vector<std::string>& inputs,
                   const std::vector<Attribute>& attributes = {});

  /// Adds a constant of that shape; returns its name, which is made unique likewise.
  std::string constant(std::string_view name, const Integers& shape, std::span<const float> values);
  std::string constant(std::string_view name, const Integers& values);

  /// Adds an input of floats; a first extent, "N", is open.
  std::string input(std::string_view name, const Integers& shape_of_one);
  /// Adds `value` as an output, likewise, under that name.
  void output(const std::string& value, std::string_view name, const Integers& shape_of_one);

  /// The GraphProto.
  Message message(std::string_view name) const;

 private:
  std::string unique(std::string_view name);

  std::set<std::string> names_;
  Message nodes_, constants_, inputs_, outputs_;  ///< fields of the GraphProto
};

}  // namespace hearsay::model::onnx
