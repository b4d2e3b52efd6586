#include <gtest/gtest.h>

#include <ostream>
#include <tuple>

#include "engine/cuda/gpu.h"

namespace hearsay::engine {
namespace {

struct Layer {
  model::Shape input;
  std::size_t out, batch, stride = 1;
};

void PrintTo(const Layer& layer, std::ostream* out) {
  *out << layer.input.channels << "x" << layer.input.height << "x" << layer.input.width << "To"
       << layer.out << "Batch" << layer.batch << "Stride" << layer.stride;
}

/// Convolutions of 3 x 3 at sizes for which an H200 selects, in one precision or another, each
/// kernel of conv_tables.cuh whose tiles are loaded by TMA: with weights that stay resident and
/// weights that are reloaded for every tile, and weight gradients by pieces, strips and half
/// strips.
class GpuConvSizes : public GpuTest,
                     public ::testing::WithParamInterface<std::tuple<Layer, std::string>> {};

/// Between norms, for which it accumulates sums of its outputs in forward and backward.
TEST_P(GpuConvSizes, HasTheGradientOfTheReferenceAloneAndAmongOthers) {
  const auto& [layer, precision] = GetParam();
  model::Network net(layer.input);
  const model::Conv2d lens{.out = layer.input.channels, .kernel = 1};
  const model::Conv2d conv{.out = layer.out, .stride = layer.stride, .padding = 1, .bias = false};
  model::Value x = net.add("norm1", model::BatchNorm{}, {net.add("lens", lens, {net.input()})});
  x = net.add("norm2", model::BatchNorm{}, {net.add("conv", conv, {x})});
  net.add("linear", model::Linear{.out = 3}, {net.add("flatten", model::Flatten{}, {x})});
  expect_gradients(net, layer.batch, precision);
}

constexpr Layer kLayers[] = {
    {{8, 3, 5}, 16, 2},        {{16, 3, 5}, 16, 4},    {{32, 3, 5}, 16, 2},
    {{16, 3, 5}, 32, 2},       {{16, 2, 6}, 16, 8},    {{256, 3, 5}, 16, 1},
    {{16, 5, 13}, 32, 24},     {{32, 5, 13}, 16, 24},  {{32, 16, 16}, 32, 32},
    {{64, 8, 8}, 64, 32},      {{64, 5, 13}, 64, 32},  {{64, 3, 5}, 48, 96},
    {{32, 3, 5}, 64, 96},      {{64, 3, 5}, 32, 96},   {{32, 3, 3}, 256, 64},
    {{256, 3, 3}, 32, 64},     {{128, 3, 3}, 128, 64}, {{16, 12, 16}, 16, 64, 2},
    {{32, 12, 16}, 16, 64, 2},
};

INSTANTIATE_TEST_SUITE_P(Layers, GpuConvSizes,
                         ::testing::Combine(::testing::ValuesIn(kLayers),
                                            ::testing::Values("fp32", "tf32", "bf16")),
                         [](const auto& test) {
                           return ::testing::PrintToString(std::get<0>(test.param)) +
                                  std::get<1>(test.param);
                         });

}  // namespace
}  // namespace hearsay::engine
