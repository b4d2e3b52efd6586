#include "hearsay/model/network.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/core/random.h"
#include "hearsay/core/thread_pool.h"

namespace hearsay::model {

namespace {

[[noreturn]] void reject(const Operation& operation, const std::string& why) {
  throw DoesNotFit(fmt::format("{}: {}", operation.name, why));
}

/// The number of positions of a window along one side.
std::size_t places(const Operation& operation, std::size_t extent, std::size_t kernel,
                   std::size_t stride, std::size_t padding) {
  if (kernel == 0 || stride == 0) reject(operation, "kernel and stride must be at least 1");
  if (extent + 2 * padding < kernel) {
    reject(operation, fmt::format("a window of {} does not fit into {} pixels with padding {}; "
                                  "use larger images or a smaller model",
                                  kernel, extent, padding));
  }
  return (extent + 2 * padding - kernel) / stride + 1;
}

template <class Window>
Shape windowed(const Operation& operation, const Window& window, const Shape& in,
               std::size_t channels) {
  return {channels, places(operation, in.height, window.kernel, window.stride, window.padding),
          places(operation, in.width, window.kernel, window.stride, window.padding)};
}

void check_groups(const Operation& operation, std::size_t groups, std::size_t channels) {
  if (groups == 0 || channels % groups != 0) {
    reject(operation, fmt::format("{} channels cannot be cut into {} groups", channels, groups));
  }
}

}  // namespace

std::string to_string(const Shape& shape) {
  return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
}

Shape parse_shape(std::string_view text) {
  std::size_t extent[3] = {0, 0, 0};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [next, error] = std::from_chars(at, end, extent[i]);
    const bool last = i == 2;
    const bool separated = last ? next == end : next != end && *next == 'x';
    if (error != std::errc() || !separated || extent[i] == 0 || extent[i] > 65'536) {
      throw InvalidArgument(fmt::format(
          "[input] must be channels x height x width, as 3x32x32, each at most 65536, got '{}'",
          text));
    }
    at = next + 1;
  }
  return {extent[0], extent[1], extent[2]};
}

/// Infers the output's shape and adds the parameters, for each kind of operation.
struct Network::Adder {
  Network& net;
  Operation& op;
  Shape in;

  Shape operator()(const Input&) const { return in; }

  Shape operator()(const Conv2d& conv) const {
    const std::size_t area = conv.kernel * conv.kernel;
    const std::size_t fan_in = in.channels * area;
    net.add_parameter(op, "weight", {conv.out, in.channels, conv.kernel, conv.kernel},
                      rule(conv.start, fan_in, conv.out * area));
    if (conv.bias) net.add_parameter(op, "bias", {conv.out}, bias_rule(conv.start, fan_in));
    return windowed(op, conv, in, conv.out);
  }

  Shape operator()(const Linear& linear) const {
    if (in.pixels() != 1) reject(op, fmt::format("needs a flat input, got {}", to_string(in)));
    net.add_parameter(op, "weight", {linear.out, in.channels},
                      rule(linear.start, in.channels, linear.out));
    if (linear.bias) {
      net.add_parameter(op, "bias", {linear.out}, bias_rule(linear.start, in.channels));
    }
    return {linear.out, 1, 1};
  }

  Shape operator()(const BatchNorm& norm) const {
    affine({in.channels}, norm.weight);
    net.add_buffer(op, "running_mean", in.channels, 0.0f);
    net.add_buffer(op, "running_var", in.channels, 1.0f);
    return in;
  }
  Shape operator()(const GroupNorm& norm) const {
    check_groups(op, norm.groups, in.channels);
    affine({in.channels}, norm.weight);
    return in;
  }
  Shape operator()(const LayerNorm&) const {
    affine(in.pixels() == 1 ? std::vector{in.channels}
                            : std::vector{in.channels, in.height, in.width});
    return in;
  }
  Shape operator()(const EvoNorm& norm) const {
    check_groups(op, norm.groups, in.channels);
    affine({in.channels}, norm.weight);
    net.add_parameter(op, "v", {in.channels}, {.value = 1});
    return in;
  }
  Shape operator()(const RangeEvoNorm& norm) const {
    check_groups(op, norm.groups, in.channels);
    const std::size_t values = in.size() / norm.groups;
    if (values < 2 * RangeEvoNorm::kRuns || values % RangeEvoNorm::kRuns != 0) {
      reject(op, fmt::format("a group of {} values cannot be cut into 16 runs of 2 or more; "
                             "use evonorm",
                             values));
    }
    affine({in.channels}, norm.weight);
    net.add_parameter(op, "v", {in.channels}, {.value = 1});
    return in;
  }

  Shape operator()(const Relu&) const { return in; }
  Shape operator()(const Gelu&) const { return in; }

  Shape operator()(const Add&) const {
    const Shape& other = net.shape(op.inputs[1]);
    if (other != in) {
      reject(op, fmt::format("cannot add {} and {}", to_string(in), to_string(other)));
    }
    return in;
  }
  Shape operator()(const Shortcut& shortcut) const {
    if (shortcut.out < in.channels || (shortcut.out - in.channels) % 2 != 0) {
      reject(op, fmt::format("cannot pad {} channels to {}", in.channels, shortcut.out));
    }
    return {shortcut.out, (in.height + 1) / 2, (in.width + 1) / 2};
  }

  Shape operator()(const MaxPool& pool) const {
    if (2 * pool.padding > pool.kernel) reject(op, "the padding is more than half the window");
    return windowed(op, pool, in, in.channels);
  }
  Shape operator()(const GlobalAveragePool&) const { return {in.channels, 1, 1}; }

  Shape operator()(const Dropout& dropout) const {
    if (!(dropout.rate >= 0 && dropout.rate < 1)) reject(op, "the rate must be in [0, 1)");
    return in;
  }
  Shape operator()(const Flatten&) const { return {in.size(), 1, 1}; }

 private:
  static Rule rule(Start start, std::size_t fan_in, std::size_t fan_out) {
    switch (start) {
      case Start::kFanIn:
        return bias_rule(start, fan_in);
      case Start::kFanOut:
        return {.deviation = std::sqrt(2.0 / static_cast<double>(fan_out))};
      case Start::kZero:
        break;
    }
    return {};
  }
  static Rule bias_rule(Start start, std::size_t fan_in) {
    if (start != Start::kFanIn) return {};
    return {.bound = 1 / std::sqrt(static_cast<double>(fan_in))};
  }

  void affine(const std::vector<std::size_t>& shape, double weight = 1) const {
    net.add_parameter(op, "weight", shape, {.value = weight});
    net.add_parameter(op, "bias", shape, {});
  }
};

Network::Network(Shape input) {
  if (input.size() == 0) throw InvalidArgument("[model] the input has no pixels");
  operations_.push_back({.name = "input",
                         .kind = Input{},
                         .inputs = {},
                         .shape = input,
                         .parameters = {},
                         .buffers = {}});
}

Value Network::add(std::string name, Kind kind, std::vector<Value> inputs) {
  Operation operation{std::move(name), kind, std::move(inputs), {}, {}, {}};
  assert(operation.inputs.size() == (std::holds_alternative<Add>(kind) ? 2 : 1));
  assert(std::ranges::all_of(operation.inputs, [&](Value v) { return v < operations_.size(); }));
  operation.shape = std::visit(Adder{*this, operation, shape(operation.inputs[0])}, kind);
  operations_.push_back(std::move(operation));
  return operations_.size() - 1;
}

void Network::add_parameter(Operation& operation, const char* name, std::vector<std::size_t> shape,
                            Rule rule) {
  operation.parameters.push_back(layout_.segments().size());
  layout_.add(fmt::format("{}.{}", operation.name, name), std::move(shape));
  rules_.push_back(rule);
}

void Network::add_buffer(Operation& operation, const char* name, std::size_t size, float start) {
  operation.buffers.push_back(buffers_.segments().size());
  buffers_.add(fmt::format("{}.{}", operation.name, name), {size});
  buffer_starts_.push_back(start);
}

void Network::initialize(std::uint64_t seed, std::span<float> parameters, ThreadPool* pool) const {
  assert(parameters.size() == layout_.dim());
  struct Piece {
    std::size_t segment, begin, size;  ///< a range of a tensor's entries
  };
  constexpr std::size_t kPiece = 1 << 14;
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const std::size_t size = layout_.segments()[i].size;
    for (std::size_t begin = 0; begin < size; begin += kPiece) {
      pieces.push_back({i, begin, std::min(kPiece, size - begin)});
    }
  }
  const auto fill = [&](std::size_t k) {
    const Piece& piece = pieces[k];
    const Rule& rule = rules_[piece.segment];
    constexpr std::size_t kNormalWords = 4, kUniformWords = 2;  // per draw
    assert(rule.deviation == 0 || rule.bound == 0);
    Random random(seed, Purpose::kInit, 0, static_cast<std::uint32_t>(piece.segment));
    random.seek(piece.begin * (rule.deviation > 0 ? kNormalWords : kUniformWords));
    const std::size_t offset = layout_.segments()[piece.segment].offset + piece.begin;
    for (float& x : parameters.subspan(offset, piece.size)) {
      double value = rule.value;
      if (rule.deviation > 0) value = rule.deviation * random.normal();
      if (rule.bound > 0) value = rule.bound * (2 * random.uniform() - 1);
      x = static_cast<float>(value);
    }
  };
  if (pool != nullptr) {
    pool->run(pieces.size(), fill);
  } else {
    for (std::size_t k = 0; k < pieces.size(); ++k) fill(k);
  }
}

void Network::initialize_buffers(std::span<float> buffers) const {
  assert(buffers.size() == buffers_.dim());
  for (std::size_t i = 0; i < buffer_starts_.size(); ++i) {
    const Segment& segment = buffers_.segments()[i];
    std::ranges::fill(buffers.subspan(segment.offset, segment.size), buffer_starts_[i]);
  }
}

std::uint64_t Network::multiplications() const {
  std::uint64_t sum = 0;
  for (const Operation& operation : operations_) {
    const bool product = std::holds_alternative<Conv2d>(operation.kind) ||
                         std::holds_alternative<Linear>(operation.kind);
    if (product) {
      sum += layout_.segments()[operation.parameters[0]].size * operation.shape.pixels();
    }
  }
  return sum;
}

}  // namespace hearsay::model
