#include "model/operation_cases.h"

#include <ostream>

#include "hearsay/core/random.h"

namespace hearsay::model {

std::vector<OperationCase> operation_cases() {
  return {
      {"Conv3x3", {3, 8, 6}, Conv2d{.out = 5, .padding = 1}},
      {"Conv3x3Of16", {16, 8, 8}, Conv2d{.out = 16, .padding = 1, .bias = false}},
      {"Conv3x3Of32", {32, 7, 6}, Conv2d{.out = 32, .padding = 1, .bias = false}},
      {"Conv3x3Widening", {16, 6, 5}, Conv2d{.out = 32, .padding = 1}},
      {"Conv3x3Strided", {17, 7, 9}, Conv2d{.out = 24, .stride = 2, .padding = 1}},
      {"Conv3x3StridedOf16", {16, 8, 8}, Conv2d{.out = 32, .stride = 2, .padding = 1}},
      {"Conv3x3Unpadded", {5, 6, 7}, Conv2d{.out = 3}},
      {"Conv5x5", {3, 9, 8}, Conv2d{.out = 6, .kernel = 5}},
      {"Conv7x7Strided", {3, 9, 12}, Conv2d{.out = 16, .kernel = 7, .stride = 2, .padding = 3}},
      {"Conv1x1", {24, 3, 5}, Conv2d{.out = 17, .kernel = 1}},
      {"Conv1x1Strided", {5, 7, 4}, Conv2d{.out = 17, .kernel = 1, .stride = 2, .bias = false}},
      {"Conv1x1StridedOf16", {16, 8, 8}, Conv2d{.out = 32, .kernel = 1, .stride = 2}},
      {"ConvOfOneChannel", {1, 8, 8}, Conv2d{.out = 16, .padding = 1}},
      // Windows beyond the image: oneDNN reorders the activations, CUDA takes its slow fallback.
      {"Conv1x1Padded", {6, 5, 6}, Conv2d{.out = 9, .kernel = 1, .padding = 1}},
      {"Conv3x3PaddedBy3", {24, 5, 4}, Conv2d{.out = 24, .stride = 2, .padding = 3, .bias = false}},
      {"Linear", {17, 1, 1}, Linear{.out = 24}},
      {"LinearUnbiased", {3, 1, 1}, Linear{.out = 5, .bias = false}},
      {"LinearOf64", {64, 1, 1}, Linear{.out = 64}},
      {"BatchNorm", {5, 4, 3}, BatchNorm{}},
      {"BatchNormOf16", {16, 8, 8}, BatchNorm{}},
      {"BatchNormOf17", {17, 2, 3}, BatchNorm{}},
      {"BatchNormOf24", {24, 3, 5}, BatchNorm{}},
      {"GroupNorm", {24, 3, 5}, GroupNorm{}},
      {"GroupNormOf16", {16, 4, 4}, GroupNorm{}},
      {"GroupNormOf3Groups", {15, 2, 3}, GroupNorm{.groups = 3}},
      {"GroupNormByChannel", {17, 3, 3}, GroupNorm{.groups = 17}},
      {"LayerNorm", {5, 3, 4}, LayerNorm{}},
      {"LayerNormOf24", {24, 1, 1}, LayerNorm{}},
      {"LayerNormOf16", {16, 4, 4}, LayerNorm{}},
      {"EvoNorm", {24, 5, 3}, EvoNorm{}},
      {"EvoNormOf16", {16, 4, 4}, EvoNorm{}},
      {"EvoNormOf1Group", {5, 4, 3}, EvoNorm{.groups = 1}},
      {"EvoNormByChannel", {17, 3, 3}, EvoNorm{.groups = 17}},
      {"RangeEvoNorm", {24, 4, 4}, RangeEvoNorm{}},
      {"RangeEvoNormOfSigmoid", {24, 4, 4}, RangeEvoNorm{.gate = Gate::kSigmoid}},
      {"RangeEvoNormOfOddRuns", {16, 6, 4}, RangeEvoNorm{}},
      {"RangeEvoNormOf16", {16, 8, 8}, RangeEvoNorm{}},
      {"RangeEvoNormOf2Groups", {6, 4, 8}, RangeEvoNorm{.groups = 2}},
      {"RangeEvoNormOf1Group", {5, 8, 2}, RangeEvoNorm{.groups = 1}},
      {"Relu", {5, 3, 4}, Relu{}},
      {"ReluOf16", {16, 4, 4}, Relu{}},
      {"ReluFlat", {17, 1, 1}, Relu{}},
      {"Gelu", {5, 3, 4}, Gelu{}},
      {"GeluOf24", {24, 1, 1}, Gelu{}},
      {"Add", {5, 3, 4}, Add{}},
      {"AddOf16", {16, 4, 4}, Add{}},
      {"Shortcut", {3, 5, 7}, Shortcut{.out = 7}},
      {"ShortcutOf16", {16, 8, 8}, Shortcut{.out = 32}},
      {"MaxPool", {5, 5, 6}, MaxPool{}},
      {"MaxPoolOf16", {16, 8, 8}, MaxPool{}},
      {"MaxPoolPadded", {17, 7, 6}, MaxPool{.kernel = 3, .stride = 2, .padding = 1}},
      {"MaxPoolOverlapping", {3, 5, 6}, MaxPool{.kernel = 3, .stride = 1}},
      {"GlobalAveragePool", {5, 3, 4}, GlobalAveragePool{}},
      {"GlobalAveragePoolOf16", {16, 8, 8}, GlobalAveragePool{}},
      {"Dropout", {5, 3, 4}, Dropout{.rate = 0.5}},
      {"DropoutOf16", {16, 4, 4}, Dropout{.rate = 0.2}},
      {"DropoutFlat", {17, 1, 1}, Dropout{.rate = 0.3}},
      {"Flatten", {5, 3, 4}, Flatten{}},
      {"FlattenOf16", {16, 4, 4}, Flatten{}},
  };
}

std::ostream& operator<<(std::ostream& out, const OperationCase& test) { return out << test.name; }

Network lens_network(const OperationCase& test) {
  Network net(test.input);
  const Conv2d lens{.out = test.input.channels, .kernel = 1};
  std::vector<Value> inputs{net.add("lens", lens, {net.input()})};
  if (std::holds_alternative<Add>(test.kind)) {
    inputs.push_back(net.add("lens2", lens, {net.input()}));
  }
  Value x = net.add("operation", test.kind, inputs);
  if (net.shape(x).pixels() > 1) x = net.add("flatten", Flatten{}, {x});
  net.add("linear", Linear{.out = 3}, {x});
  return net;
}

Example make_example(const Network& net, std::size_t batch, std::uint64_t seed) {
  Random random(seed, Purpose::kTest);
  std::vector<float> start(net.layout().dim());
  net.initialize(seed, start);

  // The inputs of a hard gate must reach beyond both of its ends, which are at +-3.
  const double scale = std::ranges::any_of(net.operations(),
                                           [](const Operation& operation) {
                                             const auto* norm =
                                                 std::get_if<RangeEvoNorm>(&operation.kind);
                                             return norm && norm->gate == Gate::kHard;
                                           })
                           ? 4
                           : 1;
  const auto exact = [](double x) { return static_cast<double>(static_cast<float>(x)); };

  Example example;
  for (const Segment& segment : net.layout().segments()) {
    const double noise = segment.shape.size() == 1 ? 0.2 : 0;  // biases, and weights of norms
    for (std::size_t i = 0; i < segment.size; ++i) {
      const double x = start[segment.offset + i];
      example.parameters.push_back(exact(x + noise * random.normal()));
    }
  }
  for (const Segment& segment : net.buffers().segments()) {
    const bool mean = segment.name.ends_with("mean");
    for (std::size_t i = 0; i < segment.size; ++i) {
      example.buffers.push_back(exact(mean ? random.normal() : 0.5 + random.uniform()));
    }
  }
  for (std::size_t i = 0; i < batch * net.shape(net.input()).size(); ++i) {
    example.samples.images.push_back(exact(scale * random.normal()));
  }
  for (std::size_t b = 0; b < batch; ++b) {
    example.samples.labels.push_back(static_cast<std::uint16_t>(random.below(net.outputs())));
  }
  return example;
}

}  // namespace hearsay::model
