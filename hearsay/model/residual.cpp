#include "hearsay/model/residual.h"

namespace hearsay::model {

Value add_basic_block(Network& net, const std::string& name, const ResidualStyle& style,
                      std::size_t out, std::size_t stride, Value x) {
  Value y = net.add(name + ".conv1", style.convolution(out, 3, stride), {x});
  y = add_norm_relu(net, name + ".bn1", style.norm, y);
  y = net.add(name + ".conv2", style.convolution(out, 3, 1), {y});
  y = add_norm(net, name + ".bn2", style.norm, y);

  if (stride != 1 || net.shape(x).channels != out) {
    const std::string shortcut = name + "." + style.shortcut;
    if (style.projects) {
      x = net.add(shortcut + ".0", style.convolution(out, 1, stride), {x});
      x = add_norm(net, shortcut + ".1", style.norm, x);
    } else {
      x = net.add(shortcut, Shortcut{.out = out}, {x});
    }
  }
  y = net.add(name + ".add", Add{}, {y, x});
  return activates(style.norm) ? y : net.add(name + ".relu", Relu{}, {y});
}

}  // namespace hearsay::model
