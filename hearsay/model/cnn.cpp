#include "hearsay/model/families.h"

namespace hearsay::model {

Network make_cnn(const Arguments& arguments, Shape input, std::size_t outputs) {
  const Norm norm = norm_of(arguments);
  const bool bias = norm == Norm::kNone;  // a norm has its own bias

  Network net(input);
  Value x = net.add("conv1", Conv2d{.out = 16, .padding = 1, .bias = bias}, {net.input()});
  x = add_norm_relu(net, "bn1", norm, x);
  x = net.add("conv2", Conv2d{.out = 32, .stride = 2, .padding = 1, .bias = bias}, {x});
  x = add_norm_relu(net, "bn2", norm, x);
  net.add("linear", Linear{.out = outputs}, {add_flatten(net, x)});
  return net;
}

}  // namespace hearsay::model
