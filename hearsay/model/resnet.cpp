#include <fmt/format.h>

#include "hearsay/model/residual.h"

namespace hearsay::model {

namespace {

/// The CIFAR networks of He, Zhang, Ren, Sun 2016, section 4.2: a 3x3 stem, three stages of 16, 32
/// and 64 channels with n = (depth - 2) / 6 basic blocks each, the mean over the pixels, a linear
/// layer. Tensors are named as in akamaster/pytorch_resnet_cifar10.
Network build(const Arguments& arguments, std::size_t depth, Shape input, std::size_t outputs) {
  require_pixels(arguments, input, 4);
  ResidualStyle style = style_of(arguments);
  style.projects = arguments.choice("shortcut") == 1;
  Network net(input);
  Value x = net.add("conv1", style.convolution(16, 3, 1), {net.input()});
  x = add_norm_relu(net, "bn1", style.norm, x);
  for (std::size_t stage = 1; stage <= 3; ++stage) {
    for (std::size_t block = 0; block < (depth - 2) / 6; ++block) {
      x = add_basic_block(net, fmt::format("layer{}.{}", stage, block), style,
                          std::size_t{8} << stage, stage > 1 && block == 0 ? 2 : 1, x);
    }
  }
  x = net.add("pool", GlobalAveragePool{}, {x});
  net.add("linear", Linear{.out = outputs}, {x});
  return net;
}

}  // namespace

Network make_resnet(const Arguments& arguments, Shape input, std::size_t outputs) {
  (void)arguments.choice("depth");
  return build(arguments, static_cast<std::size_t>(arguments.integer("depth")), input, outputs);
}

Network make_resnet20(const Arguments& arguments, Shape input, std::size_t outputs) {
  return build(arguments, 20, input, outputs);
}

Network make_resnet54(const Arguments& arguments, Shape input, std::size_t outputs) {
  return build(arguments, 50, input, outputs);
}

Network make_resnet110(const Arguments& arguments, Shape input, std::size_t outputs) {
  return build(arguments, 110, input, outputs);
}

}  // namespace hearsay::model
