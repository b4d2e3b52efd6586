#include "hearsay/model/families.h"

namespace hearsay::model {

/// LeCun, Bottou, Bengio, Haffner 1998, with relu, max pooling and softmax as used today. It was
/// designed for 32x32; images of 28x28 are padded to that in the first convolution.
Network make_lenet5(const Arguments& arguments, Shape input, std::size_t outputs) {
  require_pixels(arguments, input, 16);
  const bool pad = input.height == 28 && input.width == 28;

  Network net(input);
  Value x =
      net.add("conv1", Conv2d{.out = 6, .kernel = 5, .padding = pad ? 2u : 0u}, {net.input()});
  x = net.add("conv1.relu", Relu{}, {x});
  x = net.add("pool1", MaxPool{}, {x});
  x = net.add("conv2", Conv2d{.out = 16, .kernel = 5}, {x});
  x = net.add("conv2.relu", Relu{}, {x});
  x = net.add("pool2", MaxPool{}, {x});
  x = net.add("fc1", Linear{.out = 120}, {add_flatten(net, x)});
  x = net.add("fc1.relu", Relu{}, {x});
  x = net.add("fc2", Linear{.out = 84}, {x});
  x = net.add("fc2.relu", Relu{}, {x});
  net.add("fc3", Linear{.out = outputs}, {x});
  return net;
}

}  // namespace hearsay::model
