#include <fmt/format.h>

#include "hearsay/model/residual.h"

namespace hearsay::model {

/// The ImageNet network of He et al. 2016 with 18 layers, for images of about 224x224. Tensors are
/// named as in torchvision.
Network make_resnet18(const Arguments& arguments, Shape input, std::size_t outputs) {
  require_pixels(arguments, input, 32);
  ResidualStyle style = style_of(arguments);
  style.shortcut = "downsample";

  Network net(input);
  Value x = net.add("conv1", style.convolution(64, 7, 2), {net.input()});
  x = add_norm_relu(net, "bn1", style.norm, x);
  x = net.add("maxpool", MaxPool{.kernel = 3, .stride = 2, .padding = 1}, {x});
  for (std::size_t stage = 1; stage <= 4; ++stage) {
    for (std::size_t block = 0; block < 2; ++block) {
      x = add_basic_block(net, fmt::format("layer{}.{}", stage, block), style,
                          std::size_t{32} << stage, stage > 1 && block == 0 ? 2 : 1, x);
    }
  }
  x = net.add("avgpool", GlobalAveragePool{}, {x});
  net.add("fc", Linear{.out = outputs}, {x});
  return net;
}

}  // namespace hearsay::model
