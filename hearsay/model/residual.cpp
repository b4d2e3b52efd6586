#include "hearsay/model/residual.h"

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::model {

ResidualStyle style_of(const Arguments& arguments) {
  const ResidualStyle style{.norm = norm_of(arguments), .zero_last = arguments.flag("zero_last")};
  if (style.zero_last && style.norm == Norm::kNone) {
    throw InvalidArgument(fmt::format(
        "[{}] zero_last=1 is about the last norm of a block, and norm is none; give a norm, say "
        "norm=batch, or drop zero_last",
        arguments.name()));
  }
  return style;
}

Value add_basic_block(Network& net, const std::string& name, const ResidualStyle& style,
                      std::size_t out, std::size_t stride, Value x) {
  const bool changes = stride != 1 || net.shape(x).channels != out;
  const std::string shortcut = name + "." + style.shortcut;
  Value around = x;
  Value y = net.add(name + ".conv1", style.convolution(out, 3, stride), {x});
  // Before bn2, so that engines can fuse the addition into its pass; after conv1, so that conv1's
  // gradient with respect to x is the last one to be added, by a pass that can do more with the
  // sum.
  if (changes && !style.projects) around = net.add(shortcut, Shortcut{.out = out}, {x});
  y = add_norm_relu(net, name + ".bn1", style.norm, y);
  y = net.add(name + ".conv2", style.convolution(out, 3, 1), {y});
  y = add_norm(net, name + ".bn2", style.norm, y, style.zero_last ? 0 : 1);

  if (changes && style.projects) {
    around = net.add(shortcut + ".0", style.convolution(out, 1, stride), {x});
    around = add_norm(net, shortcut + ".1", style.norm, around);
  }
  y = net.add(name + ".add", Add{}, {y, around});
  return activates(style.norm) ? y : net.add(name + ".relu", Relu{}, {y});
}

}  // namespace hearsay::model
