#include "hearsay/model/onnx/onnx.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"
#include "hearsay/core/version.h"
#include "hearsay/model/onnx/graph.h"

namespace hearsay::model {

namespace {

using onnx::Attribute;
using onnx::Graph;
using onnx::Integers;

std::int64_t integer(std::size_t value) { return static_cast<std::int64_t>(value); }

/// Translates the operations of a network, one after the other.
class Translator {
 public:
  Translator(const Network& network, std::span<const float> parameters,
             std::span<const float> buffers, Graph& graph)
      : net_(network), parameters_(parameters), buffers_(buffers), graph_(graph) {}

  /// The name of the network's output, N x outputs, for an input of that name.
  std::string translate(const std::string& input) {
    const bool flat = net_.shape(net_.input()).pixels() == 1;
    values_.push_back({input, flat});
    for (std::size_t v = 1; v < net_.operations().size(); ++v) {
      op_ = &net_.operations()[v];
      values_.push_back(
          std::visit([&](const auto& kind) { return add(kind, op_->inputs[0]); }, op_->kind));
    }
    return vector(net_.operations().size() - 1);
  }

 private:
  /// A value in the graph: N x features if it is flat, else N x channels x height x width.
  struct Known {
    std::string name;
    bool flat;
  };

  // A value in one of the two forms.
  std::string image(Value v) {
    const Known& known = values_[v];
    return known.flat ? reshaped(known.name, {0, integer(net_.shape(v).channels), 1, 1})
                      : known.name;
  }
  std::string vector(Value v) {
    const Known& known = values_[v];
    return known.flat ? known.name
                      : graph_.node("Flatten", known.name + ".flat", {known.name},
                                    {{"axis", std::int64_t{1}}});
  }

  std::string name(std::string_view part) const { return fmt::format("{}.{}", op_->name, part); }
  /// A node of one step of the operation.
  std::string step(std::string_view operation, std::string_view part,
                   const std::vector<std::string>& inputs,
                   const std::vector<Attribute>& attributes = {}) {
    return graph_.node(operation, name(part), inputs, attributes);
  }
  std::string reshaped(const std::string& value, const Integers& shape) {
    return step("Reshape", "reshaped", {value, graph_.constant(name("shape"), shape)});
  }
  std::string scalar(std::string_view part, double value) {
    const auto number = static_cast<float>(value);
    return graph_.constant(name(part), {}, {&number, 1});
  }

  /// Parameter or buffer k of the operation, as a constant of its own or of another shape.
  std::string parameter(std::size_t k, Integers shape = {}) {
    return tensor(net_.layout().segments()[op_->parameters[k]], parameters_, std::move(shape));
  }
  std::string buffer(std::size_t k) {
    return tensor(net_.buffers().segments()[op_->buffers[k]], buffers_, {});
  }
  std::string tensor(const Segment& segment, std::span<const float> all, Integers shape) {
    if (shape.empty()) shape.assign(segment.shape.begin(), segment.shape.end());
    return graph_.constant(segment.name, shape, all.subspan(segment.offset, segment.size));
  }

  /// weight x + bias, entry by entry of their shape.
  std::string affine(const std::string& x, const Integers& shape) {
    const std::string scaled = step("Mul", "scaled", {x, parameter(0, shape)});
    return graph_.node("Add", op_->name, {scaled, parameter(1, shape)});
  }
  static Integers per_channel(const Shape& shape) { return {integer(shape.channels), 1, 1}; }
  static Integers whole(const Shape& shape) {
    return {0, integer(shape.channels), integer(shape.height), integer(shape.width)};
  }

  /// (x - mean) / sqrt(variance + epsilon) in each of the groups of channels.
  std::string standardized(Value x, std::size_t groups, double epsilon) {
    const std::vector<float> ones(groups, 1.0f), zeros(groups, 0.0f);
    const std::string normal = step("InstanceNormalization", "normalized",
                                    {reshaped(image(x), {0, integer(groups), -1}),
                                     graph_.constant(name("ones"), {integer(groups)}, ones),
                                     graph_.constant(name("zeros"), {integer(groups)}, zeros)},
                                    {{"epsilon", static_cast<float>(epsilon)}});
    return reshaped(normal, whole(net_.shape(x)));
  }

  /// x gate(v x), the numerator of both EvoNorms.
  std::string gated(Value x, Gate gate) {
    const std::string in = image(x);
    const std::string t = step("Mul", "v_x", {in, parameter(2, per_channel(net_.shape(x)))});
    const std::string s = gate == Gate::kSigmoid ? step("Sigmoid", "gate", {t})
                                                 : step("HardSigmoid", "gate", {t},
                                                        {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
    return step("Mul", "gated", {in, s});
  }

  std::string reduced(std::string_view operation, std::string_view part, const std::string& value,
                      std::int64_t axis) {
    return step(operation, part, {value},
                {{"axes", Integers{axis}}, {"keepdims", std::int64_t{1}}});
  }

  Known add(const Input&, Value) { return values_[0]; }

  Known add(const Conv2d& conv, Value x) {
    const auto twice = [](std::size_t extent) { return Integers(2, integer(extent)); };
    std::vector<std::string> inputs{image(x), parameter(0)};
    if (conv.bias) inputs.push_back(parameter(1));
    return {graph_.node("Conv", op_->name, inputs,
                        {{"kernel_shape", twice(conv.kernel)},
                         {"strides", twice(conv.stride)},
                         {"pads", Integers(4, integer(conv.padding))}}),
            false};
  }

  Known add(const Linear& linear, Value x) {
    std::vector<std::string> inputs{vector(x), parameter(0)};
    if (linear.bias) inputs.push_back(parameter(1));
    return {graph_.node("Gemm", op_->name, inputs, {{"transB", std::int64_t{1}}}), true};
  }

  Known add(const BatchNorm&, Value x) {
    return {graph_.node("BatchNormalization", op_->name,
                        {image(x), parameter(0), parameter(1), buffer(0), buffer(1)},
                        {{"epsilon", static_cast<float>(BatchNorm::kEpsilon)}}),
            false};
  }

  Known add(const GroupNorm& norm, Value x) {
    return {affine(standardized(x, norm.groups, GroupNorm::kEpsilon), per_channel(net_.shape(x))),
            false};
  }

  Known add(const LayerNorm&, Value x) {
    Integers shape = whole(net_.shape(x));
    shape.erase(shape.begin());
    return {affine(standardized(x, 1, LayerNorm::kEpsilon), shape), false};
  }

  Known add(const EvoNorm& norm, Value x) {
    const Integers grouped{0, integer(norm.groups), -1};
    const std::string in = reshaped(image(x), grouped);
    const std::string off = step("Sub", "centred", {in, reduced("ReduceMean", "mean", in, 2)});
    const std::string variance =
        reduced("ReduceMean", "variance", step("Mul", "squares", {off, off}), 2);
    const std::string deviation =
        step("Sqrt", "deviation",
             {step("Add", "variance_epsilon", {variance, scalar("epsilon", EvoNorm::kEpsilon)})});
    return divided(x, gated(x, Gate::kSigmoid), grouped, deviation);
  }

  Known add(const RangeEvoNorm& norm, Value x) {
    constexpr std::size_t kRuns = RangeEvoNorm::kRuns;
    const std::size_t m = net_.shape(x).size() / norm.groups / kRuns;
    const double kappa = 0.175 * (1 + std::sqrt(std::numbers::pi * std::log(4.0))) /
                         std::sqrt(2 * std::log(static_cast<double>(m)));
    const Integers runs{0, integer(norm.groups), integer(kRuns), integer(m)};
    const std::string in = reshaped(image(x), runs);
    const auto mean_of = [&](const char* operation, const char* part) {
      return reduced("ReduceMean", part, reduced(operation, "extremes", in, 3), 2);
    };
    const std::string range =
        step("Sub", "range", {mean_of("ReduceMax", "highest"), mean_of("ReduceMin", "lowest")});
    const std::string scaled = step("Mul", "kappa_range", {range, scalar("kappa", kappa)});
    return divided(
        x, gated(x, norm.gate), runs,
        step("Add", "range_epsilon", {scaled, scalar("epsilon", RangeEvoNorm::kEpsilon)}));
  }

  /// weight (gated / by) + bias, with the quotient taken in the shape `grouped`.
  Known divided(Value x, const std::string& gated, const Integers& grouped, const std::string& by) {
    const std::string quotient = step("Div", "quotient", {reshaped(gated, grouped), by});
    const Shape& shape = net_.shape(x);
    return {affine(reshaped(quotient, whole(shape)), per_channel(shape)), false};
  }

  Known add(const Relu&, Value x) {
    return {graph_.node("Relu", op_->name, {values_[x].name}), values_[x].flat};
  }
  Known add(const Gelu&, Value x) {
    const std::string& in = values_[x].name;
    const std::string part = step("Mul", "scaled", {in, scalar("half_root", std::sqrt(0.5))});
    const std::string phi =
        step("Add", "twice_phi", {step("Erf", "erf", {part}), scalar("one", 1)});
    const std::string twice = step("Mul", "twice", {in, phi});
    return {graph_.node("Mul", op_->name, {twice, scalar("half", 0.5)}), values_[x].flat};
  }

  Known add(const Add&, Value x) {
    return {graph_.node("Add", op_->name, {image(x), image(op_->inputs[1])}), false};
  }

  Known add(const Shortcut& shortcut, Value x) {
    const Integers from(2, 0), to(2, std::numeric_limits<std::int64_t>::max()), axes{2, 3},
        by(2, 2);
    const std::string few =
        step("Slice", "subsampled",
             {image(x), graph_.constant(name("from"), from), graph_.constant(name("to"), to),
              graph_.constant(name("axes"), axes), graph_.constant(name("by"), by)});
    const std::int64_t extra = integer((shortcut.out - net_.shape(x).channels) / 2);
    const Integers pads{0, extra, 0, 0, 0, extra, 0, 0};
    return {graph_.node("Pad", op_->name, {few, graph_.constant(name("pads"), pads)}), false};
  }

  Known add(const MaxPool& pool, Value x) {
    return {graph_.node("MaxPool", op_->name, {image(x)},
                        {{"kernel_shape", Integers(2, integer(pool.kernel))},
                         {"strides", Integers(2, integer(pool.stride))},
                         {"pads", Integers(4, integer(pool.padding))}}),
            false};
  }
  Known add(const GlobalAveragePool&, Value x) {
    return {graph_.node("GlobalAveragePool", op_->name, {image(x)}), false};
  }
  Known add(const Dropout&, Value x) { return values_[x]; }
  Known add(const Flatten&, Value x) { return {vector(x), true}; }

  const Network& net_;
  std::span<const float> parameters_, buffers_;
  Graph& graph_;
  std::vector<Known> values_;      ///< of the operations so far
  const Operation* op_ = nullptr;  ///< that is being translated
};

/// What the network sees of raw entries: slope p + offset, channel by channel.
std::string normalized(const Description& description, const std::string& input, Graph& graph) {
  const Shape& shape = description.input;
  Integers constants{integer(shape.channels)};
  if (shape.pixels() > 1) constants.insert(constants.end(), {1, 1});
  std::vector<float> slope, offset;
  for (std::size_t c = 0; c < shape.channels; ++c) {
    slope.push_back(description.slope(c));
    offset.push_back(description.offset(c));
  }
  const std::string scaled =
      graph.node("Mul", "input.scaled", {input, graph.constant("input.slope", constants, slope)});
  return graph.node("Add", "input.normalized",
                    {scaled, graph.constant("input.offset", constants, offset)});
}

/// Standardized outputs in the unit of the targets.
std::string in_own_unit(const Description& description, const std::string& output, Graph& graph) {
  const Integers shape{integer(description.outputs)};
  const std::string scaled =
      graph.node("Mul", "output.scaled",
                 {output, graph.constant("target.deviation", shape, description.target_deviation)});
  return graph.node("Add", "output.in_own_unit",
                    {scaled, graph.constant("target.mean", shape, description.target_mean)});
}

}  // namespace

std::string to_onnx(const Network& network, const Description& description,
                    std::span<const float> parameters, std::span<const float> buffers) {
  assert(parameters.size() == network.layout().dim() && buffers.size() == network.buffers().dim());
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 31) - (1 << 20);  // of a protocol buffer
  if (4 * (parameters.size() + buffers.size()) > kMost) {
    throw InvalidArgument(
        fmt::format("[onnx] the model has {} numbers, and an ONNX file holds 2 GB; use the "
                    "safetensors file",
                    parameters.size() + buffers.size()));
  }
  Graph graph;
  const Shape& in = description.input;
  Integers shape{integer(in.channels)};
  if (in.pixels() > 1) shape.insert(shape.end(), {integer(in.height), integer(in.width)});
  std::string value = normalized(description, graph.input("input", shape), graph);
  value = Translator(network, parameters, buffers, graph).translate(value);
  if (description.regression()) value = in_own_unit(description, value, graph);
  graph.output(value, description.regression() ? "prediction" : "logits",
               {integer(network.outputs())});

  // ModelProto: ir_version = 1, producer_name = 2, producer_version = 3, graph = 7,
  // opset_import = 8 (version = 2), metadata_props = 14 (key = 1, value = 2).
  onnx::Message model;
  model.integer(1, onnx::kFormat)
      .text(2, "hearsay")
      .text(3, version())
      .message(7, graph.message(spec_name(description.model)))
      .message(8, onnx::Message().text(1, "").integer(2, onnx::kOperators))
      .message(14, onnx::Message().text(1, "hearsay").text(2, to_json(description)));
  return model.bytes();
}

}  // namespace hearsay::model
