#include "hearsay/engine/check_int8.h"

#include <fmt/format.h>

#include "hearsay/backend/cpu/int8/product.h"
#include "hearsay/core/error.h"

namespace hearsay::engine {

namespace {

constexpr std::string_view kNorm =
    "networks of 8 bits are trained with norm=range-evonorm, or without a norm";

/// Why 8 bits cannot train the operation; empty if they can.
struct Reason {
  const model::Network& network;
  const model::Operation& op;

  std::string operator()(const model::BatchNorm&) const { return no_norm("batch norm"); }
  std::string operator()(const model::GroupNorm&) const { return no_norm("group norm"); }
  std::string operator()(const model::LayerNorm&) const { return no_norm("layer norm"); }
  std::string operator()(const model::EvoNorm&) const { return no_norm("EvoNorm"); }
  std::string operator()(const model::RangeEvoNorm& norm) const {
    if (norm.gate == model::Gate::kHard) return "";
    return no_norm("Range EvoNorm with the logistic gate");
  }
  std::string operator()(const model::Gelu&) const {
    return "is a gelu; networks of 8 bits have relu or norm=range-evonorm";
  }
  std::string operator()(const model::Conv2d& conv) const {
    if (conv.padding >= conv.kernel) return "pads more than its kernel";
    if (conv.stride > 2) return "has a stride above 2, for which 8 bits have no code; use 1 or 2";
    const model::Shape& in = network.shape(op.inputs[0]);
    const std::size_t pixels = (op.shape.height + 1) * (in.width + most_padding());
    return at_most(
        std::max(pixels, conv.kernel * conv.kernel * (std::max(in.channels, conv.out) + 15)));
  }
  std::string operator()(const model::Linear& linear) const {
    return at_most(std::max(network.shape(op.inputs[0]).size(), linear.out) + 15);
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return "";
  }

 private:
  /// Of any convolution: a value has the border that the widest of its readers needs.
  std::size_t most_padding() const {
    std::size_t most = 0;
    for (const model::Operation& other : network.operations()) {
      if (const auto* conv = std::get_if<model::Conv2d>(&other.kind)) {
        most = std::max(most, conv->padding);
      }
    }
    return most;
  }
  static std::string no_norm(std::string_view name) {
    return fmt::format("is {}; {}", name, kNorm);
  }
  static std::string at_most(std::size_t terms) {
    constexpr std::size_t most = backend::cpu::ByteProduct::kMostTerms;
    if (terms <= most) return "";
    return fmt::format("sums {} products, and 32 bits hold {}; use smaller images or fewer inputs",
                       terms, most);
  }
};

}  // namespace

void check_int8(const model::Network& network) {
  const auto refuse = [](const model::Operation& op, std::string_view why) {
    throw InvalidArgument(
        fmt::format("[precision] int8 cannot train this model: {} {}; or choose another precision",
                    op.name, why));
  };
  for (const model::Operation& op : network.operations()) {
    const std::string why = std::visit(Reason{network, op}, op.kind);
    if (!why.empty()) refuse(op, why);
  }
  const model::Operation& last = network.operations().back();
  if (!std::holds_alternative<model::Linear>(last.kind)) {
    refuse(last, "is last; the last operation must be a linear layer");
  }
}

}  // namespace hearsay::engine
