#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backend/device.h"
#include "compress/vectors.h"
#include "hearsay/compress/bank_operator.h"

/// On every device a BankOperator equals its Compressor, row by row and bit by bit. Included by one
/// source per kind of device.
namespace hearsay::compress {

struct Subject {
  std::string device, spec;
};

inline void PrintTo(const Subject& s, std::ostream* out) { *out << s.spec << " on " << s.device; }

inline std::string name_of(const ::testing::TestParamInfo<Subject>& test) {
  std::string name = test.param.spec;
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

inline std::vector<Subject> subjects(const std::string& device) {
  std::vector<Subject> all;
  for (const char* spec : {"identity",
                           "sign",
                           "topk",
                           "topk:keep=0.001",
                           "topk:keep=0.3",
                           "topk:keep=1",
                           "topk:value=f16",
                           "topk:value=bf16",
                           "topk:value=q8",
                           "topk:keep=0.2,value=q8",
                           "topk:keep=1,value=q8",
                           "topk:scope=model",
                           "topk:scope=model,keep=0.3,value=q8",
                           "topk:scope=model,keep=0.0001",
                           "topk:scope=model,keep=1,value=f16",
                           "randk",
                           "randk:keep=1",
                           "randk:keep=0.3,scale=1",
                           "qsgd",
                           "qsgd:bits=1",
                           "qsgd:bits=2,unbiased=1",
                           "qsgd:bits=16"}) {
    all.push_back({device, spec});
  }
  return all;
}

class BankOperatorTest : public ::testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    kernels_ = backend::kernels_if_any(GetParam().device, pool_);
    if (kernels_ == nullptr) GTEST_SKIP() << "no CUDA device";
  }

  bool norms_may_differ() const {
    return GetParam().spec.starts_with("qsgd") && GetParam().device != "cpu";
  }

  Decoded download(const backend::VectorView& view, std::size_t dim) {
    Decoded q;
    q.sparse = GetParam().spec.starts_with("topk") || GetParam().spec.starts_with("randk");
    EXPECT_TRUE(dim == 0 || (view.dense == nullptr) == q.sparse);  // null is valid if empty
    if (q.sparse) {
      q.index = backend::download(*kernels_, view.index);
      q.value = backend::download(*kernels_, view.value);
    } else {
      q.dense = backend::download(*kernels_, std::span(view.dense, dim));
    }
    return q;
  }

  /// Where two results differ, for debugging.
  static std::string difference(const Decoded& found, const Decoded& expected) {
    const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    if (found.sparse != expected.sparse) return "one is sparse";
    for (std::size_t k = 0; k < std::min(found.index.size(), expected.index.size()); ++k) {
      if (found.index[k] != expected.index[k] || bits(found.value[k]) != bits(expected.value[k])) {
        return "entry " + std::to_string(k) + ": " + std::to_string(found.index[k]) + " " +
               std::to_string(found.value[k]) + " for " + std::to_string(expected.index[k]) + " " +
               std::to_string(expected.value[k]);
      }
    }
    for (std::size_t k = 0; k < std::min(found.dense.size(), expected.dense.size()); ++k) {
      if (bits(found.dense[k]) != bits(expected.dense[k])) {
        return "entry " + std::to_string(k) + ": " + std::to_string(found.dense[k]) + " for " +
               std::to_string(expected.dense[k]);
      }
    }
    return "sizes";
  }

  /// Compress `rows`, with and without codes, and compare with the Compressor.
  void check(const Layout& layout, const std::vector<std::vector<float>>& rows) {
    constexpr std::uint64_t kSeed = 5;
    constexpr std::uint32_t kFirst = 3, kRound = 7;
    const auto made = make_bank_operator({.kernels = *kernels_,
                                          .compressor = *compressor_,
                                          .layout = layout,
                                          .pool = pool_,
                                          .seed = kSeed,
                                          .first = kFirst});
    backend::Array v = kernels_->allocate(rows.size(), layout.dim());
    for (std::size_t i = 0; i < rows.size(); ++i) kernels_->upload(rows[i], v, i);
    std::vector<backend::VectorView> q;
    std::vector<Decoded> plain;
    const auto lengths = kernels_->results<std::uint64_t>(rows.size());
    made->compress(v, kRound, lengths, q);
    kernels_->synchronize();
    for (const backend::VectorView& view : q) plain.push_back(download(view, layout.dim()));

    std::vector<Bytes> wire(1, Bytes(3));
    const auto wire_lengths = kernels_->results<std::uint64_t>(rows.size());
    made->encode(v, kRound, wire_lengths, q, wire);
    ASSERT_EQ(q.size(), rows.size());
    ASSERT_EQ(wire.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Decoded found = download(q[i], layout.dim());
      EXPECT_TRUE(same_bits(found, plain[i])) << i << ": " << difference(found, plain[i]);
      EXPECT_EQ(wire_lengths[i], wire[i].size()) << i;
      Decoded decoded;
      ByteReader reader(wire[i], "test");
      ASSERT_NO_THROW(compressor_->decode(reader, layout, decoded)) << i;
      EXPECT_EQ(reader.left(), 0u) << i;
      EXPECT_TRUE(same_bits(decoded, found)) << i << ": " << difference(decoded, found);

      Bytes code;
      Decoded expected;
      const Random random(kSeed, Purpose::kRounding, kFirst + static_cast<std::uint32_t>(i),
                          kRound);
      compressor_->compress(rows[i], layout, random, expected, &code);
      if (norms_may_differ() && !same_norms(wire[i], code, layout)) continue;
      ASSERT_TRUE(same_bits(found, expected)) << i << ": " << difference(found, expected);
      ASSERT_EQ(wire_lengths[i], code.size()) << i;
      ASSERT_EQ(wire[i], code) << i;
    }
  }

  /// Whether the norms at the start of two qsgd codes are equal; expects them to be within one ulp.
  static bool same_norms(const Bytes& a, const Bytes& b, const Layout& layout) {
    bool same = true;
    std::size_t at = 0;
    for (const Segment& segment : layout.segments()) {
      if (segment.size == 0) continue;
      std::int32_t x, y;
      std::memcpy(&x, a.data() + at, sizeof x);
      std::memcpy(&y, b.data() + at, sizeof y);
      EXPECT_LE(std::abs(x - y), 1) << segment.offset;
      same = same && x == y;
      at += sizeof x;
    }
    return same;
  }

  ThreadPool pool_{2};
  std::unique_ptr<backend::Kernels> kernels_;
  std::unique_ptr<Compressor> compressor_ = make_compressor(GetParam().spec);
};

/// d of a fixed set of normal numbers, with an offset per seed: drawing new ones would take most of
/// the time of these tests.
inline std::vector<float> some_normal(std::size_t d, std::size_t seed, float scale = 1) {
  static const std::vector<float> numbers = normal_vector(200'003, 1);
  std::vector<float> x(d);
  for (std::size_t k = 0; k < d; ++k) x[k] = scale * numbers[(seed * 7919 + k) % numbers.size()];
  return x;
}

/// No tensors, empty ones, tensors of one entry, and sizes around what one thread block handles.
inline std::vector<Layout> bank_layouts() {
  std::vector<Layout> all(1);
  for (const std::size_t n : {0u, 1u, 2u, 33u, 1000u}) all.emplace_back(n);
  for (const auto& sizes :
       std::vector<std::vector<std::size_t>>{{0, 1, 30, 0, 1, 500, 2, 0},
                                             {432, 16, 16, 2304, 16, 9216, 32, 640, 10},
                                             {2047, 2048, 2049, 1, 10'239, 10'240, 10'241},
                                             {38'399, 38'400, 38'401, 7},
                                             {3, 100'003, 8192, 65'536},
                                             {1, 49'152, 2, 49'149, 1, 65'537}}) {
    Layout layout;
    for (const std::size_t n : sizes) layout.add("t", {n});
    all.push_back(layout);
  }
  return all;
}

TEST_P(BankOperatorTest, IsTheCompressorRowByRow) {
  for (const Layout& layout : bank_layouts()) {
    SCOPED_TRACE(layout.dim());
    const std::size_t d = layout.dim();
    check(layout, {some_normal(d, 1), some_normal(d, 2, 1e-3f), some_normal(d, 3, 1e6f)});
  }
}

TEST_P(BankOperatorTest, TiesZerosAndWhatIsNotFinite) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const Layout& layout : bank_layouts()) {
    SCOPED_TRACE(layout.dim());
    const std::size_t d = layout.dim();
    std::vector<std::vector<float>> rows{std::vector<float>(d), std::vector<float>(d, -0.75f),
                                         std::vector<float>(d), some_normal(d, 4),
                                         some_normal(d, 5),     some_normal(d, 6, 1e-42f)};
    for (std::size_t k = 0; k < d; ++k) {
      rows[2][k] = static_cast<float>(k * 7919 % 5) * (k % 2 == 0 ? 1.0f : -1.0f);  // few values
      if (k % 97 == 5) rows[3][k] = kNan;
      if (k % 101 == 7) rows[4][k] = k % 2 == 0 ? kInf : -kInf;
    }
    check(layout, rows);
  }
}

TEST_P(BankOperatorTest, SixtyFourPeers) {
  Layout layout;
  for (const std::size_t n : {432u, 16u, 2304u, 40'000u, 10u}) layout.add("t", {n});
  std::vector<std::vector<float>> rows;
  for (std::uint64_t i = 0; i < 64; ++i) rows.push_back(some_normal(layout.dim(), i));
  check(layout, rows);
}

/// Repeated rounds with more and fewer rows, and with numbers a thousand times smaller and larger
/// in between, leave no state behind. Odd rows have many entries of equal magnitude.
TEST_P(BankOperatorTest, CallsDoNotDependOnThoseBefore) {
  Layout layout;
  for (const std::size_t n : {300u, 1u, 50'000u, 3000u, 40'001u}) layout.add("t", {n});
  const auto made = make_bank_operator(
      {.kernels = *kernels_, .compressor = *compressor_, .layout = layout, .pool = pool_});
  std::vector<std::vector<Decoded>> results;
  std::vector<std::uint64_t> bytes;
  for (const std::size_t rows : {2u, 2u, 5u, 2u}) {
    backend::Array v = kernels_->allocate(rows, layout.dim());
    for (std::size_t i = 0; i < rows; ++i) {
      const float scale = rows == 2 ? 1.0f : i % 2 == 0 ? 1e-3f : 1e3f;
      std::vector<float> row = some_normal(layout.dim(), i);
      for (float& x : row) x = scale * (i % 2 == 0 ? x : std::round(4 * x) / 4);
      kernels_->upload(row, v, i);
    }
    const auto lengths = kernels_->results<std::uint64_t>(rows);
    std::vector<backend::VectorView> q;
    made->compress(v, 1, lengths, q);
    kernels_->synchronize();
    if (rows != 2) continue;
    bytes.insert(bytes.end(), lengths.begin(), lengths.begin() + 2);
    results.emplace_back();
    for (std::size_t i = 0; i < 2; ++i) results.back().push_back(download(q[i], layout.dim()));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t k = 1; k < 3; ++k) {
      EXPECT_TRUE(same_bits(results[k][i], results[0][i]))
          << k << "," << i << ": " << difference(results[k][i], results[0][i]);
      EXPECT_EQ(bytes[2 * k + i], bytes[i]) << k << "," << i;
    }
  }
}

}  // namespace hearsay::compress
