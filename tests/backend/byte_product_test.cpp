#include "hearsay/backend/cpu/int8/product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include <fmt/ranges.h>

#include "hearsay/backend/cpu/int8/pack.h"
#include "hearsay/core/random.h"
#include "support/message_of.h"

namespace hearsay::backend::cpu {
namespace {

struct Case {
  std::size_t rows, columns, stride, segments, length;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.rows << "x" << c.columns << " of " << c.segments << "x" << c.length;
}

/// Every instruction set; those that this machine lacks are skipped by name.
class ByteProductTest : public ::testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    if (!has_byte_product_set(GetParam())) GTEST_SKIP() << "this machine has no " << GetParam();
    use_byte_product_set(GetParam());
  }
  void TearDown() override { use_byte_product_set(""); }
};

/// From `low` to 127.
std::vector<std::int8_t> random_bytes(std::size_t size, std::uint32_t stream, int low) {
  Random random(1, Purpose::kTest, stream);
  std::vector<std::int8_t> bytes(size);
  for (std::int8_t& byte : bytes) {
    byte = static_cast<std::int8_t>(low + static_cast<int>(random.below(128 - low)));
  }
  return bytes;
}

TEST_P(ByteProductTest, EqualsPlainSums) {
  constexpr Case kCases[] = {
      {1, 16, 4, 1, 4},      {3, 16, 8, 2, 8},     {16, 16, 16, 1, 64},    {17, 48, 12, 3, 12},
      {64, 16, 16, 3, 48},   {80, 32, 32, 3, 96},  {33, 64, 64, 3, 192},   {100, 80, 20, 5, 100},
      {1056, 16, 16, 3, 48}, {31, 32, 128, 2, 68}, {16, 32, 4096, 4, 512},
  };
  for (const Case& test : kCases) {
    SCOPED_TRACE(::testing::PrintToString(test));
    std::vector<std::ptrdiff_t> segments;
    for (std::size_t s = 0; s < test.segments; ++s) {
      segments.push_back(static_cast<std::ptrdiff_t>(1000 - s * 37 % 200));
    }
    const ByteProduct product{test.rows, test.columns, test.stride, segments, test.length};
    const auto a = random_bytes(product.padded_rows() * test.stride + 1000 + test.length, 1, -127);
    const auto b = random_bytes(product.terms() * test.columns, 2, -128);
    std::vector<std::int32_t> c(product.padded_rows() * test.columns, 7);
    multiply(product, a.data(), b.data(), c.data());
    for (std::size_t i = 0; i < test.rows; ++i) {
      for (std::size_t j = 0; j < test.columns; ++j) {
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < product.terms(); ++k) {
          const std::size_t place = i * test.stride +
                                    static_cast<std::size_t>(segments[k / test.length]) +
                                    k % test.length;
          sum += a[place] * b[quad_place(k, j, test.columns)];
        }
        ASSERT_EQ(c[i * test.columns + j], sum) << i << ", " << j;
      }
    }
  }
}

/// The longest sum of the largest products, of both signs.
TEST_P(ByteProductTest, HoldsTheLargestSum) {
  constexpr std::size_t kTerms = ByteProduct::kMostTerms;
  const std::ptrdiff_t start = 0;
  const ByteProduct product{1, 16, 0, {&start, 1}, kTerms};
  const std::vector<std::int8_t> a(kTerms, 127);
  std::vector<std::int8_t> b(kTerms * 16, 127);
  for (std::size_t k = 0; k < kTerms; ++k) b[quad_place(k, 3, 16)] = -128;
  std::vector<std::int32_t> c(16 * 16);
  multiply(product, a.data(), b.data(), c.data());
  EXPECT_EQ(c[0], 127 * 127 * static_cast<std::int64_t>(kTerms));
  EXPECT_EQ(c[3], -127 * 128 * static_cast<std::int64_t>(kTerms));
}

INSTANTIATE_TEST_SUITE_P(Sets, ByteProductTest,
                         ::testing::ValuesIn(byte_product_sets().begin(),
                                             byte_product_sets().end()),
                         [](const auto& test) {
                           std::string name(test.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST(ByteProductSets, AreTheFastestUnlessAnotherIsNamed) {
  EXPECT_TRUE(has_byte_product_set("plain"));
  EXPECT_FALSE(has_byte_product_set("mmx"));
  use_byte_product_set("plain");
  EXPECT_EQ(byte_product_set(), "plain");
  use_byte_product_set("");
  for (const std::string_view name : byte_product_sets()) {
    if (!has_byte_product_set(name)) continue;
    EXPECT_EQ(byte_product_set(), name);
    break;
  }
  EXPECT_EQ(support::message_of([] { use_byte_product_set("mmx"); }),
            fmt::format("[HEARSAY_ISA] no instruction set is named 'mmx'; there are {}",
                        fmt::join(byte_product_sets(), ", ")));
}

TEST(Pack, MovesEveryByte) {
  constexpr std::size_t kPixels = 48, kChannels = 32, kPitch = 64, kColumns = 80, kFirst = 16;
  const auto x = random_bytes(kPixels * kChannels, 1, -128);
  std::vector<std::int8_t> planes(kChannels * kPitch), quads(kPixels * kColumns);
  to_planes(x.data(), kPixels, kChannels, kPitch, planes.data());
  to_quads(x.data(), kPixels, kChannels, kColumns, quads.data() + 4 * kFirst);
  for (std::size_t p = 0; p < kPixels; ++p) {
    for (std::size_t c = 0; c < kChannels; ++c) {
      ASSERT_EQ(planes[c * kPitch + p], x[p * kChannels + c]) << p << ", " << c;
      ASSERT_EQ(quads[quad_place(p, kFirst + c, kColumns)], x[p * kChannels + c]) << p << ", " << c;
    }
  }
}

}  // namespace
}  // namespace hearsay::backend::cpu
