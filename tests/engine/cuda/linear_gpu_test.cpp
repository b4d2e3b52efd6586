#include <gtest/gtest.h>

#include <ostream>
#include <tuple>

#include "engine/cuda/gpu.h"

namespace hearsay::engine {
namespace {

struct Layer {
  std::size_t in, out, batch;
  bool relu;
};

void PrintTo(const Layer& layer, std::ostream* out) {
  *out << layer.in << "To" << layer.out << "Batch" << layer.batch;
}

/// Sizes at which warps share a sum, have more than one part of it, or only part of a tile.
class GpuLinear : public GpuTest,
                  public ::testing::WithParamInterface<std::tuple<Layer, std::string>> {
 protected:
  /// The layer between a lens (operation_cases.h), which receives its input's gradient, and another
  /// layer.
  static model::Network network(const Layer& layer) {
    model::Network net({layer.in, 1, 1});
    model::Value x = net.add("lens", model::Conv2d{.out = layer.in, .kernel = 1}, {net.input()});
    x = net.add("operation", model::Linear{.out = layer.out}, {x});
    if (layer.relu) x = net.add("relu", model::Relu{}, {x});
    net.add("linear", model::Linear{.out = 3}, {x});
    return net;
  }
};

TEST_P(GpuLinear, HasTheGradientOfTheReferenceAloneAndAmongOthers) {
  const auto& [layer, precision] = GetParam();
  expect_gradients(network(layer), layer.batch, precision);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, GpuLinear,
    ::testing::Combine(::testing::Values(Layer{512, 512, 33, true}, Layer{512, 10, 32, false},
                                         Layer{513, 7, 32, true}, Layer{64, 10, 32, false},
                                         Layer{17, 33, 16, true}, Layer{1030, 5, 2, false},
                                         Layer{16, 129, 17, true}, Layer{1, 1, 1, false}),
                       ::testing::Values("fp32", "tf32", "bf16")),
    [](const auto& test) {
      return ::testing::PrintToString(std::get<0>(test.param)) + std::get<1>(test.param);
    });

}  // namespace
}  // namespace hearsay::engine
