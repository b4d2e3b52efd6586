#pragma once

#include "hearsay/model/network.h"

namespace hearsay::model {

/// golden.py's network of the operations that the models do not use.
inline Network make_zoo(Shape input) {
  Network net(input);
  Value x = net.add("a", Conv2d{.out = 16, .padding = 1}, {net.input()});
  x = net.add("b", GroupNorm{}, {x});
  x = net.add("gelu", Gelu{}, {x});
  x = net.add("c", Conv2d{.out = 32, .stride = 2, .padding = 1}, {x});
  x = net.add("d", RangeEvoNorm{}, {x});
  x = net.add("g", RangeEvoNorm{.gate = Gate::kSigmoid}, {x});
  x = net.add("e", LayerNorm{}, {x});
  x = net.add("three", Add{}, {net.add("two", Add{}, {x, x}), x});
  net.add("f", Linear{.out = 10}, {net.add("flatten", Flatten{}, {x})});
  return net;
}

}  // namespace hearsay::model
