#include <gtest/gtest.h>

#include <ostream>
#include <tuple>

#include "engine/cuda/gpu.h"

namespace hearsay::engine {
namespace {

struct Layer {
  const char* name;
  model::Shape input;
  model::Conv2d conv;
  std::size_t batch;
};

void PrintTo(const Layer& layer, std::ostream* out) { *out << layer.name; }

/// Convolutions of images whose weight gradient is one matrix product if TMA can copy rows of the
/// images; sizes at which it is, and sizes at which it is not.
class GpuFewChannels : public GpuTest,
                       public ::testing::WithParamInterface<std::tuple<Layer, std::string>> {
 protected:
  static model::Network network(const Layer& layer) {
    model::Network net(layer.input);
    model::Value x = net.add("operation", layer.conv, {net.input()});
    net.add("linear", model::Linear{.out = 3}, {net.add("flatten", model::Flatten{}, {x})});
    return net;
  }
};

TEST_P(GpuFewChannels, HasTheGradientOfTheReferenceAloneAndAmongOthers) {
  const auto& [layer, precision] = GetParam();
  expect_gradients(network(layer), layer.batch, precision);
}

constexpr Layer kLayers[] = {
    {"ResNet", {3, 32, 32}, {.out = 16, .padding = 1, .bias = false}, 5},
    {"Vgg11", {3, 32, 32}, {.out = 64, .padding = 1}, 5},
    {"OneSplitATile", {3, 32, 32}, {.out = 16, .padding = 1}, 1},
    {"OneSplit", {3, 8, 8}, {.out = 16, .padding = 1}, 2},
    {"ManyTilesASplit", {3, 16, 16}, {.out = 48, .padding = 1}, 57},
    {"ManyTilesASplitOf64", {3, 8, 16}, {.out = 128, .padding = 1}, 101},
    {"TwoImagesATile", {3, 8, 8}, {.out = 48, .padding = 1}, 6},
    {"TwoImagesATileOddBatch", {3, 8, 8}, {.out = 16, .padding = 1}, 5},
    {"EightImagesATile", {2, 4, 4}, {.out = 16, .padding = 1}, 16},
    {"OneChannel", {1, 28, 28}, {.out = 48, .padding = 1}, 3},
    {"OneChannel5x5", {1, 28, 28}, {.out = 16, .kernel = 5}, 3},
    {"OneChannelUnbiased", {1, 32, 32}, {.out = 64, .kernel = 5, .padding = 2, .bias = false}, 2},
    {"AllColumns", {8, 8, 8}, {.out = 32, .kernel = 2, .bias = false}, 4},
    {"AllColumnsButNoneForTheBias", {8, 8, 8}, {.out = 32, .kernel = 2}, 4},
    {"Strided", {3, 32, 32}, {.out = 32, .stride = 2, .padding = 1}, 2},
    {"Pointwise", {3, 16, 16}, {.out = 16, .kernel = 1}, 3},
    {"Wide", {3, 5, 48}, {.out = 80, .padding = 1}, 2},
    {"OddWidth", {3, 9, 31}, {.out = 16, .padding = 1}, 3},
    {"OddOutputs", {3, 32, 32}, {.out = 20, .padding = 1}, 2},
};

INSTANTIATE_TEST_SUITE_P(Layers, GpuFewChannels,
                         ::testing::Combine(::testing::ValuesIn(kLayers),
                                            ::testing::Values("fp32", "tf32", "bf16")),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + std::get<1>(test.param);
                         });

}  // namespace
}  // namespace hearsay::engine
