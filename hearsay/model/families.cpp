#include "hearsay/model/families.h"

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::model {

Norm norm_of(const Arguments& arguments) { return static_cast<Norm>(arguments.choice("norm")); }

Value add_norm(Network& net, std::string name, Norm norm, Value x, double weight) {
  switch (norm) {
    case Norm::kNone:
      break;
    case Norm::kBatch:
      return net.add(std::move(name), BatchNorm{.weight = weight}, {x});
    case Norm::kGroup:
      return net.add(std::move(name), GroupNorm{.weight = weight}, {x});
    case Norm::kEvoNorm:
      return net.add(std::move(name), EvoNorm{.weight = weight}, {x});
    case Norm::kRangeEvoNorm:
    case Norm::kRangeEvoNormHard:
      return net.add(std::move(name), RangeEvoNorm{.weight = weight}, {x});
    case Norm::kRangeEvoNormSigmoid:
      return net.add(std::move(name), RangeEvoNorm{.gate = Gate::kSigmoid, .weight = weight}, {x});
  }
  return x;
}

Value add_norm_relu(Network& net, const std::string& name, Norm norm, Value x) {
  x = add_norm(net, name, norm, x);
  return activates(norm) ? x : net.add(name + ".relu", Relu{}, {x});
}

Value add_flatten(Network& net, Value x) {
  return net.shape(x).pixels() == 1 ? x : net.add("flatten", Flatten{}, {x});
}

void require_pixels(const Arguments& arguments, const Shape& input, std::size_t side) {
  if (input.height >= side && input.width >= side) return;
  throw InvalidArgument(fmt::format("[{}] got images of {}, needs at least {}x{} pixels",
                                    arguments.name(), to_string(input), side, side));
}

}  // namespace hearsay::model
