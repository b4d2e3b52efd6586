#include "hearsay/model/families.h"

namespace hearsay::model {

Network make_linear(const Arguments&, Shape input, std::size_t outputs) {
  Network net(input);
  const Value x = add_flatten(net, net.input());
  // Convex under every loss, so any initialization works; at zero all classes are equally likely,
  // and a prediction is the mean target.
  net.add("linear", Linear{.out = outputs, .start = Start::kZero}, {x});
  return net;
}

}  // namespace hearsay::model
