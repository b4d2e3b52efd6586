#include "hearsay/compress/code/index_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/compress/compressor.h"
#include "hearsay/core/error.h"

namespace hearsay::compress {
namespace {

using Indices = std::vector<std::uint32_t>;

std::size_t bits_with(const Indices& index, unsigned r) {
  std::size_t bits = 0;
  std::uint64_t next = 0;
  for (const std::uint32_t i : index) {
    bits += 1 + r + ((i - next) >> r);
    next = std::uint64_t{i} + 1;
  }
  return bits;
}

Indices random_subset(std::size_t d, double keep, std::uint64_t seed) {
  Random random(seed, Purpose::kTest);
  Indices index;
  for (std::uint32_t i = 0; i < d; ++i) {
    if (random.uniform() < keep) index.push_back(i);
  }
  if (index.empty()) index.push_back(static_cast<std::uint32_t>(d) - 1);
  return index;
}

std::vector<Indices> cases() {
  constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max() - 1;
  std::vector<Indices> all{{0}, {kLast}, {0, kLast}, {0, 1, 2, 3}, {7}, {1u << 30, 1u << 31}};
  all.push_back({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1'000'000});  // one long run of zeros
  for (const double keep : {0.0001, 0.001, 0.01, 0.1, 0.5, 0.9}) {
    all.push_back(random_subset(20'000, keep, 3));
  }
  return all;
}

TEST(IndexCode, IsTheShortestOfAllParameters) {
  for (const Indices& index : cases()) {
    const RiceCode code = plan_indices(index);
    EXPECT_EQ(code.bits, bits_with(index, code.parameter));
    for (unsigned r = 0; r <= 31; ++r) EXPECT_LE(code.bits, bits_with(index, r)) << r;
  }
}

TEST(IndexCode, ReadsBackAndHasItsLength) {
  for (const Indices& index : cases()) {
    const RiceCode code = plan_indices(index);
    if (code.bits > 1u << 26) continue;
    Bytes bytes{42};
    append_indices(index, code, bytes);
    ASSERT_EQ(bytes.size(), 1 + code.bytes());
    bytes.push_back(42);
    ByteReader reader(ByteView(bytes).subspan(1), "test");
    Indices read(index.size());
    read_indices(reader, std::size_t{index.back()} + 1, read);
    EXPECT_EQ(read, index);
    EXPECT_EQ(reader.left(), 1u);
  }
}

TEST(IndexCode, RejectsIndicesBeyondTheModelAndWrongParameters) {
  const Indices index{3, 9};
  Bytes bytes;
  append_indices(index, plan_indices(index), bytes);
  Indices read(2);
  ByteReader reader(bytes, "test");
  EXPECT_THROW(read_indices(reader, 9, read), CorruptData);
  Indices three(3);
  ByteReader again(bytes, "test");
  EXPECT_THROW(read_indices(again, 1000, three), CorruptData);
  bytes[0] = 32;
  ByteReader wrong(bytes, "test");
  EXPECT_THROW(read_indices(wrong, 1000, read), CorruptData);
}

/// log2 of the number of sets of k out of d.
double set_bits(double d, double k) {
  return (std::lgamma(d + 1) - std::lgamma(k + 1) - std::lgamma(d - k + 1)) / std::log(2.0);
}

TEST(IndexCode, OfARandomSetIsNearItsEntropy) {
  constexpr std::size_t kDim = 200'000;
  for (const double keep : {0.001, 0.01, 0.1, 0.2}) {
    const Indices index = random_subset(kDim, keep, 5);
    const double entropy = set_bits(kDim, static_cast<double>(index.size()));
    EXPECT_LE(static_cast<double>(8 * plan_indices(index).bytes()), 1.05 * entropy) << keep;
  }
}

}  // namespace
}  // namespace hearsay::compress
