#include "hearsay/model/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "hearsay/core/random.h"
#include "hearsay/core/thread_pool.h"

namespace hearsay::model {
namespace {

Shape shape_of(Shape input, Kind kind) {
  Network net(input);
  return net.shape(net.add("op", kind, {net.input()}));
}

std::string error_of(Shape input, Kind kind) {
  try {
    shape_of(input, kind);
  } catch (const DoesNotFit& error) {
    return error.what();
  }
  return "no error";
}

TEST(Network, InfersShapes) {
  EXPECT_EQ(shape_of({3, 9, 7}, Conv2d{.out = 5, .kernel = 3, .stride = 2}), (Shape{5, 4, 3}));
  EXPECT_EQ(shape_of({3, 8, 7}, Conv2d{.out = 5, .kernel = 3, .stride = 2, .padding = 1}),
            (Shape{5, 4, 4}));
  EXPECT_EQ(shape_of({4, 1, 1}, Linear{.out = 6}), (Shape{6, 1, 1}));
  EXPECT_EQ(shape_of({4, 5, 3}, Shortcut{.out = 8}), (Shape{8, 3, 2}));
  EXPECT_EQ(shape_of({4, 5, 3}, MaxPool{}), (Shape{4, 2, 1}));
  EXPECT_EQ(shape_of({4, 112, 112}, MaxPool{.kernel = 3, .stride = 2, .padding = 1}),
            (Shape{4, 56, 56}));
  EXPECT_EQ(shape_of({4, 5, 3}, GlobalAveragePool{}), (Shape{4, 1, 1}));
  EXPECT_EQ(shape_of({4, 5, 3}, Flatten{}), (Shape{60, 1, 1}));
  EXPECT_EQ(shape_of({4, 5, 3}, BatchNorm{}), (Shape{4, 5, 3}));
}

TEST(Network, LaysOutParametersInOrderAndShapedAsPyTorchs) {
  Network net({3, 4, 4});
  Value x = net.add("a", Conv2d{.out = 8, .kernel = 3}, {net.input()});
  x = net.add("b", BatchNorm{}, {x});
  x = net.add("c", EvoNorm{.groups = 4}, {x});
  x = net.add("d", LayerNorm{}, {x});
  x = net.add("e", Flatten{}, {x});
  net.add("f", Linear{.out = 3, .bias = false}, {x});

  using Sizes = std::vector<std::size_t>;
  const std::vector<std::pair<std::string, Sizes>> expected{
      {"a.weight", {8, 3, 3, 3}}, {"a.bias", {8}},      {"b.weight", {8}}, {"b.bias", {8}},
      {"c.weight", {8}},          {"c.bias", {8}},      {"c.v", {8}},      {"d.weight", {8, 2, 2}},
      {"d.bias", {8, 2, 2}},      {"f.weight", {3, 32}}};
  ASSERT_EQ(net.layout().segments().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(net.layout().segments()[i].name, expected[i].first);
    EXPECT_EQ(net.layout().segments()[i].shape, expected[i].second);
  }
  ASSERT_EQ(net.buffers().segments().size(), 2u);
  EXPECT_EQ(net.buffers().segments()[0].name, "b.running_mean");
  EXPECT_EQ(net.buffers().segments()[1].name, "b.running_var");
  EXPECT_EQ(net.multiplications(), 8u * 27 * 4 + 96u);

  std::vector<float> buffers(16, -1);
  net.initialize_buffers(buffers);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(buffers[i], i < 8 ? 0 : 1);
}

/// Every tensor is one stream of draws, whatever the number of threads.
TEST(Network, StartsWithTheSameBitsOnAnyNumberOfThreads) {
  Network net({16, 5, 5});
  Value x = net.add("normal", Conv2d{.out = 64, .kernel = 5, .padding = 2, .start = Start::kFanOut},
                    {net.input()});
  x = net.add("flat", Flatten{}, {x});
  net.add("uniform", Linear{.out = 21}, {x});
  std::vector<float> drawn;
  for (std::uint32_t i = 0; i < net.layout().segments().size(); ++i) {
    const Segment& segment = net.layout().segments()[i];
    Random random(3, Purpose::kInit, 0, i);
    const double bound = 1 / std::sqrt(64.0 * 25), deviation = std::sqrt(2.0 / (64 * 25));
    for (std::size_t k = 0; k < segment.size; ++k) {
      const bool zero = segment.name == "normal.bias";
      const double value = zero                               ? 0
                           : segment.name.starts_with("norm") ? deviation * random.normal()
                                                              : bound * (2 * random.uniform() - 1);
      drawn.push_back(static_cast<float>(value));
    }
  }
  ASSERT_GT(drawn.size(), 3u << 14) << "several pieces";
  for (const std::size_t threads : {0, 1, 3}) {
    std::vector<float> start(net.layout().dim());
    ThreadPool pool(std::max<std::size_t>(threads, 1));
    net.initialize(3, start, threads == 0 ? nullptr : &pool);
    EXPECT_EQ(start, drawn) << threads;
  }
}

TEST(Network, StartsWithTheStatedDistributions) {
  Network net({16, 5, 5});
  Value x = net.add("out", Conv2d{.out = 64, .kernel = 5, .start = Start::kFanOut}, {net.input()});
  net.add("norm", GroupNorm{}, {x});
  x = net.add("in", Conv2d{.out = 64, .kernel = 3, .padding = 2}, {net.input()});
  x = net.add("flat", Flatten{}, {x});
  net.add("zero", Linear{.out = 9, .start = Start::kZero}, {x});
  std::vector<float> all(net.layout().dim());
  net.initialize(3, all);
  const auto part = [&](std::size_t i) {
    const Segment& segment = net.layout().segments()[i];
    return std::span<const float>(all).subspan(segment.offset, segment.size);
  };
  const auto second_moment = [](std::span<const float> values) {
    return std::inner_product(values.begin(), values.end(), values.begin(), 0.0) /
           static_cast<double>(values.size());
  };

  // 25,600 normal values: the second moment has relative deviation sqrt(2 / n) = 0.9 %.
  EXPECT_NEAR(second_moment(part(0)) / (2.0 / (25 * 64)), 1, 0.04);
  EXPECT_EQ(second_moment(part(1)), 0);  // the bias
  EXPECT_EQ(part(2)[5], 1);              // the norm's weight and bias
  EXPECT_EQ(part(3)[5], 0);
  // 9,216 uniform values in +-b, b^2 = 1 / 144: the second moment is b^2 / 3, relative deviation
  // sqrt(0.8 / n) = 0.9 %.
  EXPECT_NEAR(second_moment(part(4)) * 3 * 144, 1, 0.04);
  for (float value : part(4)) EXPECT_LE(std::abs(value), 1 / 12.0f);
  EXPECT_GT(second_moment(part(5)), 0);
  for (float value : part(5)) EXPECT_LE(std::abs(value), 1 / 12.0f);
  EXPECT_EQ(second_moment(part(6)), 0);
}

TEST(Network, SaysWhichOperationDoesNotFit) {
  EXPECT_EQ(error_of({3, 4, 4}, Conv2d{.out = 5, .kernel = 5}),
            "op: a window of 5 does not fit into 4 pixels with padding 0; use larger images or a "
            "smaller model");
  EXPECT_EQ(error_of({3, 4, 4}, GroupNorm{}), "op: 3 channels cannot be cut into 2 groups");
  EXPECT_EQ(error_of({3, 4, 4}, Linear{.out = 5}), "op: needs a flat input, got 3x4x4");
  EXPECT_EQ(error_of({12, 4, 4}, EvoNorm{}), "op: 12 channels cannot be cut into 8 groups");
  EXPECT_EQ(error_of({8, 5, 5}, RangeEvoNorm{}),
            "op: a group of 25 values cannot be cut into 16 runs of 2 or more; use evonorm");
  EXPECT_EQ(error_of({4, 4, 4}, Shortcut{.out = 7}), "op: cannot pad 4 channels to 7");
  EXPECT_EQ(error_of({4, 4, 4}, MaxPool{.kernel = 2, .stride = 2, .padding = 2}),
            "op: the padding is more than half the window");
  EXPECT_EQ(error_of({4, 4, 4}, Dropout{.rate = 1}), "op: the rate must be in [0, 1)");

  Network net({4, 4, 4});
  const Value x = net.add("pool", MaxPool{}, {net.input()});
  EXPECT_THROW(net.add("add", Add{}, {net.input(), x}), DoesNotFit);
}

}  // namespace
}  // namespace hearsay::model
