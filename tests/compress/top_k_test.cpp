#include "hearsay/compress/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "compress/vectors.h"
#include "hearsay/backend/cpu/select.h"
#include "hearsay/compress/code/units.h"
#include "hearsay/core/error.h"

namespace hearsay::compress {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// The definition of the order: by magnitude, descending, and then by index.
std::vector<std::uint32_t> naive_order(const std::vector<float>& x) {
  std::vector<std::uint32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return (std::bit_cast<std::uint32_t>(x[a]) & 0x7fffffffu) >
           (std::bit_cast<std::uint32_t>(x[b]) & 0x7fffffffu);
  });
  return order;
}

void expect_exact(const std::vector<float>& x, std::vector<std::uint32_t> order, std::size_t k,
                  const char* what) {
  order.resize(k);
  std::ranges::sort(order);
  std::vector<std::uint32_t> index{99};
  std::vector<float> value{-1};
  backend::select_largest(x, k, 0, index, value);
  ASSERT_EQ(index.size(), k + 1) << what;
  ASSERT_EQ(value.size(), k + 1) << what;
  EXPECT_EQ(index[0], 99u) << "what was there before stays";
  index.erase(index.begin());
  EXPECT_EQ(index, order) << what << ", n " << x.size() << ", k " << k;
  for (std::size_t i = 0; i < k; ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value[i + 1]),
              std::bit_cast<std::uint32_t>(x[index[i]]));
  }
}

void expect_exact_for_all_k(const std::vector<float>& x, const char* what) {
  const std::vector<std::uint32_t> order = naive_order(x);
  for (const double fraction : {0.0, 0.001, 0.01, 0.1, 0.4, 0.9, 0.999, 1.0}) {
    expect_exact(x, order, static_cast<std::size_t>(fraction * static_cast<double>(x.size())),
                 what);
  }
  if (!x.empty()) expect_exact(x, order, 1, what);
}

TEST(SelectLargest, IsExactForEverySizeAroundTheVectorWidth) {
  for (std::size_t n = 0; n <= 70; ++n) expect_exact_for_all_k(normal_vector(n, n + 1), "normal");
}

/// Inputs for which the sampled threshold is right, and inputs that defeat it.
TEST(SelectLargest, IsExactOnLargeAndAdversarialVectors) {
  constexpr std::size_t kSize = 200'003;
  const std::vector<float> normal = normal_vector(kSize, 1);
  expect_exact_for_all_k(normal, "normal");
  expect_exact_for_all_k(std::vector<float>(kSize), "zeros");
  expect_exact_for_all_k(std::vector<float>(kSize, -2.5f), "all equal");

  expect_exact_for_all_k(std::vector<float>(kSize, std::bit_cast<float>(0x7fffffffu)),
                         "largest bits");

  std::vector<float> x = normal;
  std::ranges::sort(x);
  expect_exact_for_all_k(x, "sorted");

  for (float& v : x) v = std::round(v);
  expect_exact_for_all_k(x, "few distinct values, sorted");

  x = normal;
  for (float& v : x) v = std::round(2 * v) / 2;
  expect_exact_for_all_k(x, "few distinct values");

  x.assign(kSize, 0);
  for (std::size_t i = 0; i < kSize; i += 1000) x[i] = normal[i];
  expect_exact_for_all_k(x, "mostly zero");

  x = normal;  // large only where the sample does not look: it takes 16 of every 48 entries
  for (std::size_t i = 0; i < kSize; ++i) x[i] *= i % 48 < 16 ? 1e-6f : 1.0f;
  expect_exact_for_all_k(x, "sample too small");
  for (std::size_t i = 0; i < kSize; ++i) x[i] = normal[i] * (i % 48 < 16 ? 1.0f : 1e-6f);
  expect_exact_for_all_k(x, "sample too large");

  x = normal;
  for (std::size_t i = 0; i < kSize; i += 7) x[i] = i % 2 ? kInf : -kInf;
  for (std::size_t i = 3; i < kSize; i += 11) x[i] = i % 2 ? kNan : -kNan;
  for (std::size_t i = 5; i < kSize; i += 13) x[i] = 1e-42f;
  expect_exact_for_all_k(x, "special values");
}

TEST(TopK, BreaksTiesByTheLowerIndex) {
  const Layout layout(6);
  Decoded q;
  make_compressor("topk:keep=0.5")
      ->compress(std::vector<float>{1, -2, 2, 1, -1, 2}, layout, Random(0, Purpose::kTest), q,
                 nullptr);
  EXPECT_EQ(q.index, (std::vector<std::uint32_t>{1, 2, 5}));
  EXPECT_EQ(q.value, (std::vector<float>{-2, 2, 2}));
  make_compressor("topk:keep=0.7")
      ->compress(std::vector<float>{1, -2, 2, 1, -1, 2}, layout, Random(0, Purpose::kTest), q,
                 nullptr);
  EXPECT_EQ(q.index, (std::vector<std::uint32_t>{0, 1, 2, 5}));
}

TEST(TopK, SendsNanBeforeInfinityBeforeNumbers) {
  Decoded q;
  const std::vector<float> x{3e38f, kInf, kNan, 5};
  const auto indices = [&](const char* spec) {
    make_compressor(spec)->compress(x, Layout(4), Random(0, Purpose::kTest), q, nullptr);
    return q.index;
  };
  EXPECT_EQ(indices("topk:keep=0.25"), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(indices("topk:keep=0.5"), (std::vector<std::uint32_t>{1, 2}));
}

TEST(TopK, SelectsPerTensorOrOverTheModel) {
  Layout layout;
  layout.add("small", {2});
  layout.add("none", {0});
  layout.add("large", {4});
  const std::vector<float> x{1, 2, 10, 30, 20, 40};
  Decoded q;
  make_compressor("topk:keep=0.5,scope=layer")
      ->compress(x, layout, Random(0, Purpose::kTest), q, nullptr);
  EXPECT_EQ(q.index, (std::vector<std::uint32_t>{1, 3, 5}));
  make_compressor("topk:keep=0.5,scope=model")
      ->compress(x, layout, Random(0, Purpose::kTest), q, nullptr);
  EXPECT_EQ(q.index, (std::vector<std::uint32_t>{3, 4, 5}));
}

TEST(TopK, DecodeChecksTheNumberOfEntriesOfEveryTensor) {
  Layout layout;
  layout.add("first", {4});
  layout.add("second", {4});
  Bytes wire;
  Decoded q;
  make_compressor("topk:keep=0.25,scope=model")
      ->compress(std::vector<float>{9, 8, 0, 0, 1, 1, 1, 1}, layout, Random(0, Purpose::kTest), q,
                 &wire);
  ByteReader reader(wire, "message");
  try {
    make_compressor("topk:keep=0.25,scope=layer")->decode(reader, layout, q);
    FAIL() << "no exception";
  } catch (const CorruptData& error) {
    EXPECT_STREQ(error.what(), "[message] entries 4 to 7 of the model must hold 1 of the indices");
  }
}

TEST(Int8, IsTheTopKThatKeepsEveryEntryInEightBits) {
  Layout layout;
  for (const std::size_t n : {300u, 0u, 1u, 70'000u}) layout.add("t", {n});
  const auto run = [&](const char* spec, const std::vector<float>& x, Decoded& q) {
    Bytes wire;
    make_compressor(spec)->compress(x, layout, Random(0, Purpose::kTest), q, &wire);
    return wire;
  };
  for (const float special : {0.5f, 0.0f, 1e-42f, 3e38f, kInf, kNan}) {
    std::vector<float> x = normal_vector(layout.dim(), 5);
    x[7] = special;
    Decoded int8, top_k, of_model;
    const Bytes wire = run("int8", x, int8);
    EXPECT_EQ(wire, run("topk:keep=1,value=q8", x, top_k)) << special;
    EXPECT_TRUE(same_bits(int8, top_k)) << special;
    EXPECT_EQ(wire.size(), layout.dim() + 3 * sizeof(float)) << special;
    EXPECT_NE(wire, run("topk:keep=1,scope=model,value=q8", x, of_model)) << special;
  }
}

TEST(Int8, RoundsToTheNearestOf255LevelsOfEachTensorsLargestMagnitude) {
  Layout layout;
  layout.add("large", {5000});
  layout.add("small", {40});
  std::vector<float> x = normal_vector(layout.dim(), 6);
  for (std::size_t i = 5000; i < x.size(); ++i) x[i] *= 1e-3f;
  Decoded q;
  make_compressor("int8")->compress(x, layout, Random(0, Purpose::kTest), q, nullptr);
  const std::vector<float> rounded = expand(q, layout.dim());
  for (const Segment& tensor : layout.segments()) {
    double largest = 0;
    for (std::size_t i = 0; i < tensor.size; ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(x[tensor.offset + i])));
    }
    for (std::size_t i = tensor.offset; i < tensor.offset + tensor.size; ++i) {
      const double level = static_cast<double>(rounded[i]) * 127 / largest;
      EXPECT_NEAR(level, std::round(level), 1e-4) << i;
      EXPECT_LE(std::abs(static_cast<double>(rounded[i] - x[i])), largest / 254 * (1 + 1e-5)) << i;
    }
  }
}

TEST(Kept, IsTheFloorOfTheExactProduct) {
  EXPECT_EQ(kept(0.1, 160), 16u);
  EXPECT_EQ(kept(0.1, 640), 64u);
  EXPECT_EQ(kept(0.29, 100), 29u);
  EXPECT_EQ(kept(0.01, 99), 1u);
  EXPECT_EQ(kept(0.01, 199), 1u);
  EXPECT_EQ(kept(0.01, 200), 2u);
  EXPECT_EQ(kept(0.001, 1), 1u);
  EXPECT_EQ(kept(0.5, 0), 0u);
  EXPECT_EQ(kept(1, 12345), 12345u);
  EXPECT_EQ(kept(0.999, 1000), 999u);
  for (std::size_t k = 1; k <= 1000; ++k) {
    EXPECT_EQ(kept(static_cast<double>(k) / 1000, 1000), k);
    EXPECT_EQ(kept(static_cast<double>(k) / 1000, 1001), std::max<std::size_t>(1, k * 1001 / 1000));
  }
}

}  // namespace
}  // namespace hearsay::compress
