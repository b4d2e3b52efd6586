#include "engine/chains.h"

#include <ostream>

namespace hearsay::model {

namespace {

Value conv(Network& net, const std::string& name, Value x, std::size_t out,
           std::size_t stride = 1) {
  return net.add(name, Conv2d{.out = out, .stride = stride, .padding = 1, .bias = false}, {x});
}

/// conv -> norm -> relu
Chain normed(const std::string& name, Kind norm, std::size_t channels) {
  return {name, {3, 6, 8}, [=](Network& net) {
            Value x = conv(net, "conv", net.input(), channels);
            x = net.add("norm", norm, {x});
            return net.add("relu", Relu{}, {x});
          }};
}

/// A residual block with the shortcut `shortcut(net, x)` and the sum's terms in either order.
Chain residual(const std::string& name, std::size_t channels, Kind norm, bool swapped,
               Value (*shortcut)(Network&, Value), std::size_t stride) {
  return {name, {3, 8, 6}, [=](Network& net) {
            Value x = conv(net, "stem", net.input(), channels);
            x = net.add("stem.norm", norm, {x});
            x = net.add("stem.relu", Relu{}, {x});
            Value y = conv(net, "conv1", x, stride * channels, stride);
            y = net.add("norm1", norm, {y});
            y = net.add("relu1", Relu{}, {y});
            y = conv(net, "conv2", y, stride * channels);
            y = net.add("norm2", norm, {y});
            x = shortcut(net, x);
            y = net.add("add", Add{}, swapped ? std::vector{x, y} : std::vector{y, x});
            return net.add("relu", Relu{}, {y});
          }};
}

Value keep(Network&, Value x) { return x; }
Value option_a(Network& net, Value x) {
  return net.add("shortcut", Shortcut{.out = 2 * net.shape(x).channels}, {x});
}
Value option_b(Network& net, Value x) {
  x = net.add("shortcut.0",
              Conv2d{.out = 2 * net.shape(x).channels, .kernel = 1, .stride = 2, .bias = false},
              {x});
  return net.add("shortcut.1", BatchNorm{}, {x});
}

/// relu(norm(conv(x)) + residual), with the conv and norm named after `name`.
Value block(Network& net, const std::string& name, Value x, Value residual) {
  x = net.add(name + ".norm", BatchNorm{}, {conv(net, name, x, 16)});
  x = net.add(name + ".add", Add{}, {x, residual});
  return net.add(name + ".relu", Relu{}, {x});
}

/// relu(conv(x) + bias)
Value clipped(Network& net, const std::string& name, Value x, std::size_t out,
              std::size_t stride = 1) {
  x = net.add(name, Conv2d{.out = out, .stride = stride, .padding = 1}, {x});
  return net.add(name + ".relu", Relu{}, {x});
}

/// Outputs of a relu, read by a pool, a convolution and a linear layer.
Chain pooled(const std::string& name, Shape input, std::size_t channels, const MaxPool& pool) {
  return {name, input, [=](Network& net) {
            Value x = clipped(net, "conv1", net.input(), channels);
            x = clipped(net, "conv2", net.add("pool", pool, {x}), 2 * channels);
            return clipped(net, "conv3", x, channels);
          }};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Chain& chain) { return out << chain.name; }

std::vector<Chain> chains() {
  return {
      normed("BatchNormRelu", BatchNorm{}, 16),
      normed("BatchNormReluOf5", BatchNorm{}, 5),
      normed("GroupNormRelu", GroupNorm{}, 16),
      normed("LayerNormRelu", LayerNorm{}, 16),
      normed("EvoNormRelu", EvoNorm{}, 16),
      normed("RangeEvoNormRelu", RangeEvoNorm{}, 16),
      residual("Residual", 16, BatchNorm{}, false, keep, 1),
      residual("ResidualSwapped", 16, BatchNorm{}, true, keep, 1),
      residual("ResidualOf5", 5, BatchNorm{}, false, keep, 1),
      residual("ResidualOfGroupNorm", 16, GroupNorm{}, false, keep, 1),
      residual("ResidualOfEvoNorm", 16, EvoNorm{}, false, keep, 1),
      residual("ResidualOptionA", 16, BatchNorm{}, false, option_a, 2),
      residual("ResidualOptionAOf6", 6, BatchNorm{}, true, option_a, 2),
      residual("ResidualOptionB", 16, BatchNorm{}, false, option_b, 2),
      residual("ResidualOptionBSwapped", 16, BatchNorm{}, true, option_b, 2),
      // A shortcut that is computed early enough to be added in the pass of the norm.
      {"ResidualOptionAInTime",
       {3, 8, 8},
       [](Network& net) {
         Value x = net.add("norm", BatchNorm{}, {conv(net, "stem", net.input(), 16)});
         x = block(net, "block1", net.add("relu", Relu{}, {x}), x);
         Value y = conv(net, "conv1", x, 32, 2);
         const Value around = option_a(net, x);
         y = net.add("relu1", Relu{}, {net.add("norm1", BatchNorm{}, {y})});
         y = net.add("norm2", BatchNorm{}, {conv(net, "conv2", y, 32)});
         return net.add("relu2", Relu{}, {net.add("add2", Add{}, {y, around})});
       }},
      // Residuals that may share an array with the sum's gradient, and some that must not.
      {"ResidualChain",
       {16, 6, 6},
       [](Network& net) {
         Value x = conv(net, "conv", net.input(), 16);
         for (const char* name : {"a", "b", "c"}) x = block(net, name, x, x);
         return x;
       }},
      {"ResidualReadBefore",
       {16, 4, 4},
       [](Network& net) {
         const Value x = conv(net, "conv", net.input(), 16), y = net.add("gelu", Gelu{}, {x});
         return block(net, "a", y, x);
       }},
      {"ResidualReadAfter",
       {16, 4, 4},
       [](Network& net) {
         const Value x = net.add("norm", BatchNorm{}, {conv(net, "conv", net.input(), 16)});
         const Value y = block(net, "a", x, x), z = net.add("gelu", Gelu{}, {x});
         return net.add("add", Add{}, {y, z});
       }},
      {"ResidualReadByTwoSums",
       {16, 4, 4},
       [](Network& net) {
         const Value x = net.add("norm", BatchNorm{}, {conv(net, "conv", net.input(), 16)});
         const Value y = block(net, "a", x, x), z = block(net, "b", y, x);
         return block(net, "c", z, y);
       }},
      {"ResidualOfImages",
       {16, 4, 4},
       [](Network& net) { return block(net, "a", net.input(), net.input()); }},
      {"ResidualThatIsNormed",
       {16, 4, 4},
       [](Network& net) {
         const Value x = conv(net, "conv", net.input(), 16);
         const Value sum = net.add("add", Add{}, {net.add("norm", BatchNorm{}, {x}), x});
         return block(net, "a", sum, sum);
       }},
      {"ResidualWithoutRelu",
       {16, 4, 4},
       [](Network& net) {
         const Value x = conv(net, "conv1", net.input(), 16), y = conv(net, "conv2", x, 16);
         const Value sum = net.add("sum", Add{}, {net.add("norm", BatchNorm{}, {y}), x});
         return net.add("gelu", Gelu{}, {sum});
       }},
      // The reader of a relu's output masks its gradient, unless another reader adds to it later.
      pooled("ReluMaxPool", {3, 20, 16}, 16, MaxPool{}),
      pooled("ReluMaxPoolOddSizes", {3, 17, 21}, 16, MaxPool{}),
      pooled("ReluMaxPoolOf5", {3, 21, 22}, 5, MaxPool{}),
      pooled("ReluMaxPoolOf64", {3, 16, 16}, 64, MaxPool{}),
      pooled("ReluMaxPoolOverlapping", {3, 21, 18}, 16, MaxPool{.kernel = 3}),
      pooled("ReluMaxPoolOverlappingPadded", {3, 17, 20}, 16, MaxPool{.kernel = 3, .padding = 1}),
      pooled("ReluMaxPoolWithGaps", {3, 21, 23}, 16, MaxPool{.stride = 3}),
      {"ReluGlobalAveragePool",
       {3, 12, 10},
       [](Network& net) {
         const Value x = clipped(net, "conv1", net.input(), 16);
         return net.add("pool", GlobalAveragePool{}, {clipped(net, "conv2", x, 32, 2)});
       }},
      {"ReluStrided",
       {3, 16, 16},
       [](Network& net) {
         const Value x = clipped(net, "conv1", net.input(), 16);
         return net.add("conv3", Conv2d{.out = 20, .kernel = 1}, {clipped(net, "conv2", x, 32, 2)});
       }},
      {"ReluReadByConvAndSum",
       {3, 12, 10},
       [](Network& net) {
         const Value x = clipped(net, "conv1", net.input(), 16), y = clipped(net, "conv2", x, 16);
         return net.add("relu", Relu{}, {net.add("add", Add{}, {y, x})});
       }},
      {"ReluReadByTwoConvs",
       {3, 10, 10},
       [](Network& net) {
         const Value x = clipped(net, "conv", net.input(), 16);
         const Value a = clipped(net, "a", x, 32, 2), b = clipped(net, "b", x, 32, 2);
         return net.add("add", Add{}, {a, b});
       }},
      {"ReluReadByConvAndMaxPool",
       {3, 12, 10},
       [](Network& net) {
         const Value x = clipped(net, "conv", net.input(), 16), y = clipped(net, "a", x, 16, 2);
         return net.add("add", Add{}, {net.add("pool", MaxPool{}, {x}), y});
       }},
      {"ReluReadByMaxPoolAndConv",
       {3, 12, 10},
       [](Network& net) {
         const Value x = clipped(net, "conv", net.input(), 16);
         const Value y = net.add("pool", MaxPool{}, {x});
         return net.add("add", Add{}, {clipped(net, "a", x, 16, 2), y});
       }},
      {"ReluIsAResidual",
       {3, 10, 12},
       [](Network& net) {
         const Value x = clipped(net, "conv", net.input(), 16);
         return block(net, "a", x, x);
       }},
      // A mean over pixels accumulates the sums for the norm before it, unless another reader adds
      // later.
      {"NormPooled",
       {3, 8, 8},
       [](Network& net) {
         const Value x = net.add("norm", BatchNorm{}, {conv(net, "conv", net.input(), 20)});
         return net.add("pool", GlobalAveragePool{}, {net.add("relu", Relu{}, {x})});
       }},
      {"NormWithoutReluPooled",
       {3, 5, 7},
       [](Network& net) {
         const Value x = net.add("norm", BatchNorm{}, {conv(net, "conv", net.input(), 5)});
         return net.add("pool", GlobalAveragePool{}, {x});
       }},
      {"ResidualPooled",
       {16, 8, 8},
       [](Network& net) {
         const Value x = conv(net, "conv", net.input(), 16);
         return net.add("pool", GlobalAveragePool{}, {block(net, "a", x, x)});
       }},
      {"PooledBeforeItIsRead",
       {16, 8, 8},
       [](Network& net) {
         Value x = net.add("norm", BatchNorm{}, {conv(net, "conv", net.input(), 16)});
         x = net.add("relu", Relu{}, {x});
         const Value mean = net.add("pool", GlobalAveragePool{}, {x});
         x = net.add("pool2", GlobalAveragePool{}, {block(net, "a", x, x)});
         return net.add("add", Add{}, {x, mean});
       }},
      {"PooledAfterItIsRead",
       {16, 8, 8},
       [](Network& net) {
         Value x = net.add("norm", BatchNorm{}, {conv(net, "conv", net.input(), 16)});
         x = net.add("relu", Relu{}, {x});
         const Value y = net.add("pool2", GlobalAveragePool{}, {block(net, "a", x, x)});
         return net.add("add", Add{}, {net.add("pool", GlobalAveragePool{}, {x}), y});
       }},
      {"NormReadTwice",
       {16, 4, 4},
       [](Network& net) {
         const Value x = net.add("norm", BatchNorm{}, {conv(net, "conv", net.input(), 16)});
         return net.add("add", Add{}, {net.add("relu", Relu{}, {x}), x});
       }},
      {"SumReadTwice",
       {16, 4, 4},
       [](Network& net) {
         const Value x = conv(net, "conv1", net.input(), 16), y = conv(net, "conv2", x, 16);
         const Value sum = net.add("sum", Add{}, {net.add("norm", BatchNorm{}, {y}), x});
         return net.add("add", Add{}, {net.add("relu", Relu{}, {sum}), sum});
       }},
      {"ReadByThree",
       {5, 6, 6},
       [](Network& net) {
         const Value x = net.add("relu", Relu{}, {conv(net, "conv", net.input(), 16)});
         const Value a = conv(net, "a", x, 16), b = net.add("b", Gelu{}, {x});
         return net.add("add2", Add{}, {net.add("add1", Add{}, {a, b}), x});
       }},
      {"AddedToItself",
       {5, 4, 4},
       [](Network& net) {
         const Value x = conv(net, "conv", net.input(), 7);
         return net.add("add", Add{}, {x, x});
       }},
      {"ImagesInASum",
       {5, 4, 4},
       [](Network& net) {
         return net.add("add", Add{}, {conv(net, "conv", net.input(), 5), net.input()});
       }},
      // Of two values that can be recomputed, one must be kept for the other.
      {"NormOfNorm",
       {3, 6, 6},
       [](Network& net) {
         Value x = net.add("bn", BatchNorm{}, {conv(net, "conv1", net.input(), 16)});
         x = net.add("gn", GroupNorm{}, {net.add("relu", Relu{}, {x})});
         for (const char* name : {"conv2", "conv3", "conv4"}) {
           x = net.add(std::string(name) + ".bn", BatchNorm{}, {conv(net, name, x, 16)});
         }
         return x;
       }},
      // Terms in different layouts.
      {"VectorAndImagesInASum",
       {10, 1, 1},
       [](Network& net) {
         const Value x = net.add("fc", Linear{.out = 10}, {net.input()});
         return net.add("add", Add{}, {x, net.input()});
       }},
      {"ImagesAndVectorInASum",
       {10, 1, 1},
       [](Network& net) {
         const Value x = net.add("fc", Linear{.out = 10}, {net.input()});
         return net.add("add", Add{}, {net.input(), x});
       }},
      {"PixelAndMeanInASum",
       {3, 4, 4},
       [](Network& net) {
         const Value x = net.add("conv", Conv2d{.out = 10, .kernel = 4}, {net.input()});
         const Value y =
             net.add("pool", GlobalAveragePool{}, {conv(net, "conv2", net.input(), 10)});
         return net.add("add", Add{}, {net.add("norm", GroupNorm{}, {x}), y});
       }},
      {"NormOfImages", {3, 4, 4}, [](Network& net) { return net.add("bn", BatchNorm{}, {0}); }},
      {"PoolOfImages", {3, 4, 4}, [](Network& net) { return net.add("pool", MaxPool{}, {0}); }},
      {"ReluOfImages", {3, 4, 4}, [](Network& net) { return net.add("relu", Relu{}, {0}); }},
      {"ShortcutOfImages",
       {3, 4, 4},
       [](Network& net) { return net.add("shortcut", Shortcut{.out = 5}, {0}); }},
      {"OnlyLinear", {3, 4, 4}, [](Network& net) { return net.input(); }},
      {"ReluTwice",
       {16, 4, 4},
       [](Network& net) {
         const Value x = net.add("relu1", Relu{}, {conv(net, "conv", net.input(), 16)});
         return net.add("relu2", Relu{}, {x});
       }},
      {"ConvReluPoolDropout",
       {1, 8, 8},
       [](Network& net) {
         Value x = net.add("conv", Conv2d{.out = 6, .kernel = 5}, {net.input()});
         x = net.add("pool", MaxPool{}, {net.add("relu", Relu{}, {x})});
         return net.add("dropout", Dropout{.rate = 0.25}, {x});
       }},
      {"HiddenLayers",
       {5, 3, 3},
       [](Network& net) {
         Value x = net.add("flat", Flatten{}, {net.input()});
         x = net.add("relu1", Relu{}, {net.add("fc1", Linear{.out = 20}, {x})});
         return net.add("relu2", Relu{}, {net.add("fc2", Linear{.out = 17}, {x})});
       }},
      {"NormOfHidden",
       {20, 1, 1},
       [](Network& net) {
         const Value x = net.add("fc", Linear{.out = 24}, {net.input()});
         return net.add("relu", Relu{}, {net.add("norm", LayerNorm{}, {x})});
       }},
  };
}

Network chain_network(const Chain& chain) {
  Network net(chain.input);
  Value x = chain.build(net);
  if (net.shape(x).pixels() > 1) x = net.add("flatten", Flatten{}, {x});
  net.add("linear", Linear{.out = 3}, {x});
  return net;
}

}  // namespace hearsay::model
