#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backend/device.h"
#include "compress/vectors.h"
#include "hearsay/compress/bank_compressor.h"

/// On every device a BankCompressor equals its Compressor, row by row and bit by bit. Included by
/// one source per kind of device.
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
                           "int8",
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
                           "qsgd:bits=16",
                           "own topk:keep=0.3"}) {
    all.push_back({device, spec});
  }
  return all;
}

/// An operator that no device knows: one of the registry's that does not reveal its kind.
class OwnCompressor final : public Compressor {
 public:
  explicit OwnCompressor(std::string_view spec) : inner_(make_compressor(spec)) {}
  std::size_t compress(std::span<const float> x, const Layout& layout, const Random& random,
                       Decoded& q, Bytes* wire) const override {
    return inner_->compress(x, layout, random, q, wire);
  }
  void decode(ByteReader& in, const Layout& layout, Decoded& q) const override {
    inner_->decode(in, layout, q);
  }
  Promise promise() const override { return inner_->promise(); }
  double quality(const Layout& layout) const override { return inner_->quality(layout); }
  std::size_t paper_bytes(const Layout& layout) const override {
    return inner_->paper_bytes(layout);
  }

 private:
  std::unique_ptr<Compressor> inner_;
};

inline std::unique_ptr<Compressor> make_subject(std::string_view spec) {
  constexpr std::string_view kOwn = "own ";
  if (!spec.starts_with(kOwn)) return make_compressor(spec);
  return std::make_unique<OwnCompressor>(spec.substr(kOwn.size()));
}

class BankCompressorTest : public ::testing::TestWithParam<Subject> {
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
    q.sparse = !std::holds_alternative<IdentityKind>(kind_) &&
               !std::holds_alternative<SignKind>(kind_) && !std::holds_alternative<QsgdKind>(kind_);
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
    BankCompressor::Parts parts{.kernels = *kernels_,
                                .compressor = *compressor_,
                                .layout = layout,
                                .pool = pool_,
                                .seed = kSeed,
                                .first = kFirst};
    const auto made = make_bank_compressor(parts);
    parts.encodes = true;
    const auto encoding = make_bank_compressor(parts);
    backend::Array v = kernels_->allocate(rows.size(), layout.dim());
    for (std::size_t i = 0; i < rows.size(); ++i) kernels_->upload(rows[i], v, i);
    std::vector<Decoded> plain;
    Payload without_codes;
    made->compress(v, kRound, without_codes);
    kernels_->synchronize();
    EXPECT_TRUE(without_codes.codes.empty());
    for (const backend::VectorView& view : without_codes.rows) {
      plain.push_back(download(view, layout.dim()));
    }

    Payload payload;
    payload.codes.assign(1, Bytes(3));  // is overwritten
    encoding->compress(v, kRound, payload);
    EXPECT_EQ(payload.paper_bytes, compressor_->paper_bytes(layout));
    const std::vector<backend::VectorView>& q = payload.rows;
    const std::vector<Bytes>& wire = payload.codes;
    const std::span<const std::uint64_t> wire_lengths = payload.bytes;
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
  std::unique_ptr<Compressor> compressor_ = make_subject(GetParam().spec);
  Kind kind_ = compressor_->kind();
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

TEST_P(BankCompressorTest, IsTheCompressorRowByRow) {
  for (const Layout& layout : bank_layouts()) {
    SCOPED_TRACE(layout.dim());
    const std::size_t d = layout.dim();
    check(layout, {some_normal(d, 1), some_normal(d, 2, 1e-3f), some_normal(d, 3, 1e6f)});
  }
}

TEST_P(BankCompressorTest, TiesZerosAndWhatIsNotFinite) {
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

TEST_P(BankCompressorTest, SixtyFourPeers) {
  Layout layout;
  for (const std::size_t n : {432u, 16u, 2304u, 40'000u, 10u}) layout.add("t", {n});
  std::vector<std::vector<float>> rows;
  for (std::uint64_t i = 0; i < 64; ++i) rows.push_back(some_normal(layout.dim(), i));
  check(layout, rows);
}

/// Repeated rounds with more and fewer rows, and with numbers a thousand times smaller and larger
/// in between, leave no state behind. Odd rows have many entries of equal magnitude.
TEST_P(BankCompressorTest, CallsDoNotDependOnThoseBefore) {
  Layout layout;
  for (const std::size_t n : {300u, 1u, 50'000u, 3000u, 40'001u}) layout.add("t", {n});
  const auto made = make_bank_compressor(
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
    Payload payload;
    made->compress(v, 1, payload);
    kernels_->synchronize();
    if (rows != 2) continue;
    bytes.insert(bytes.end(), payload.bytes.begin(), payload.bytes.begin() + 2);
    results.emplace_back();
    for (std::size_t i = 0; i < 2; ++i) {
      results.back().push_back(download(payload.rows[i], layout.dim()));
    }
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
