#include <gtest/gtest.h>

#include <ostream>
#include <tuple>

#include "engine/cuda/gpu.h"

namespace hearsay::engine {
namespace {

struct Strided {
  model::Shape input;
  std::size_t out, batch;
};

void PrintTo(const Strided& conv, std::ostream* out) {
  *out << conv.input.channels << "x" << conv.input.height << "x" << conv.input.width << "To"
       << conv.out << "Batch" << conv.batch;
}

/// Convolutions of 3 x 3 with stride 2, whose gradient with respect to the input is computed in
/// quarters (conv_geometry.h) where possible: images of many tiles and tiles of many images, more
/// than there are, odd sizes, channels of several chunks, and shapes that have no quarters.
class GpuStridedConv : public GpuTest,
                       public ::testing::WithParamInterface<std::tuple<Strided, std::string>> {
 protected:
  model::Value add_conv(model::Network& net, model::Value x) const {
    return net.add("conv", model::Conv2d{.out = conv_.out, .stride = 2, .padding = 1}, {x});
  }

  static model::Value add_lens(model::Network& net) {
    const std::size_t channels = net.shape(net.input()).channels;
    return net.add("lens", model::Conv2d{.out = channels, .kernel = 1}, {net.input()});
  }

  /// Appends a linear layer that reads x.
  void expect_gradient_of(model::Network& net, model::Value x) const {
    if (net.shape(x).pixels() > 1) x = net.add("flatten", model::Flatten{}, {x});
    net.add("linear", model::Linear{.out = 3}, {x});
    expect_gradients(net, conv_.batch, precision_);
  }

  const Strided conv_ = std::get<0>(GetParam());
  const std::string precision_ = std::get<1>(GetParam());
};

TEST_P(GpuStridedConv, HasTheGradientOfTheReference) {
  model::Network net(conv_.input);
  expect_gradient_of(net, add_conv(net, add_lens(net)));
}

/// The sums it accumulates for the batch norm before it, with a shortcut whose gradient is already
/// present.
TEST_P(GpuStridedConv, SumsForTheNormBeforeIt) {
  model::Network net(conv_.input);
  model::Value x = add_lens(net);
  x = net.add("relu", model::Relu{}, {net.add("norm", model::BatchNorm{}, {x})});
  const model::Value y = add_conv(net, x);
  const model::Value around = net.add("shortcut", model::Shortcut{.out = conv_.out}, {x});
  expect_gradient_of(net, net.add("add", model::Add{}, {y, around}));
}

/// The same if the relu's mask depends on a sum with a residual.
TEST_P(GpuStridedConv, SumsForTheNormOfASumBeforeIt) {
  model::Network net(conv_.input);
  const model::Value lens = add_lens(net), norm = net.add("norm", model::BatchNorm{}, {lens});
  const model::Value sum = net.add("sum", model::Add{}, {norm, lens});
  expect_gradient_of(net, add_conv(net, net.add("relu", model::Relu{}, {sum})));
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, GpuStridedConv,
    ::testing::Combine(::testing::Values(Strided{{16, 32, 32}, 32, 3}, Strided{{32, 16, 16}, 64, 5},
                                         Strided{{16, 8, 8}, 16, 5}, Strided{{64, 4, 4}, 64, 19},
                                         Strided{{16, 2, 2}, 48, 67}, Strided{{16, 33, 31}, 32, 2},
                                         Strided{{24, 12, 20}, 48, 3}, Strided{{48, 5, 2}, 96, 4},
                                         Strided{{16, 1, 6}, 32, 3}, Strided{{6, 8, 8}, 32, 3}),
                       ::testing::Values("fp32", "tf32", "bf16")),
    [](const auto& test) {
      return ::testing::PrintToString(std::get<0>(test.param)) + std::get<1>(test.param);
    });

}  // namespace
}  // namespace hearsay::engine
