#include "hearsay/model/families.h"

namespace hearsay::model {

Network make_logistic(const Arguments&, Shape input, std::size_t classes) {
  Network net(input);
  const Value x = add_flatten(net, net.input());
  // Convex, so any initialization works; at zero the initial loss is ln(classes).
  net.add("linear", Linear{.out = classes, .start = Start::kZero}, {x});
  return net;
}

}  // namespace hearsay::model
