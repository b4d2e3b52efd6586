#include "hearsay/compress/compressor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <string>

#include "compress/vectors.h"
#include "hearsay/core/error.h"

namespace hearsay::compress {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// The specs of the contract suite: every row's example, and every value of every parameter.
std::vector<std::string> specs() {
  std::vector<std::string> all;
  for (const Entry& entry : registry()) {
    all.emplace_back(entry.name);
    if (entry.example != entry.name) all.emplace_back(entry.example);
    for (const Parameter& parameter : entry.parameters) {
      const std::string key = std::string(entry.name) + ":" + std::string(parameter.key) + "=";
      if (parameter.key == "keep") {
        for (const char* value : {"0.001", "0.1", "0.3", "0.7", "1"}) all.push_back(key + value);
      } else if (parameter.key == "bits") {
        for (const char* value : {"1", "2", "8", "16"}) all.push_back(key + value);
      } else {
        std::string values(parameter.allowed);
        for (std::size_t bar; !values.empty(); values.erase(0, bar)) {
          bar = std::min(values.find('|'), values.size());
          all.push_back(key + values.substr(0, bar));
          if (bar < values.size()) ++bar;
        }
      }
    }
  }
  for (const char* spec : {"topk:keep=0.3,scope=model,value=q8", "topk:keep=1,value=bf16",
                           "topk:keep=0.1,scope=model,value=f16", "randk:keep=0.3,scale=1",
                           "qsgd:bits=1,unbiased=1", "qsgd:bits=8,unbiased=1"}) {
    all.emplace_back(spec);
  }
  return all;
}

std::vector<Layout> layouts() {
  std::vector<Layout> all(1);  // no tensor at all
  for (const std::size_t n : {0u, 1u, 2u, 7u, 100u, 1000u}) all.emplace_back(n);
  Layout mixed;
  for (const std::size_t n : {0u, 1u, 30u, 0u, 1u, 500u, 2u, 0u}) mixed.add("t", {n});
  all.push_back(mixed);
  return all;
}

/// Dense, one-hot, zero, equal and geometrically decaying vectors: the worst cases of the proofs.
std::vector<std::vector<float>> vectors(std::size_t n) {
  std::vector<std::vector<float>> all{normal_vector(n, 1), normal_vector(n, 2, 1000),
                                      normal_vector(n, 3, 1e-3f), std::vector<float>(n),
                                      std::vector<float>(n, -0.75f)};
  if (n > 0) {
    all.emplace_back(n);
    all.back()[n / 2] = -3;
    all.emplace_back(n, 1 / 260.0f);  // all but one just below half a step of 8-bit levels
    all.back()[0] = 1;
    all.emplace_back(n);
    for (std::size_t i = 0; i < n; ++i) all.back()[i] = std::pow(0.99f, static_cast<float>(i));
  }
  return all;
}

class CompressorContract : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Compressor> compressor_ = make_compressor(GetParam());
  Decoded q_;

  static bool is_random() {
    return GetParam().starts_with("randk") || GetParam().starts_with("qsgd");
  }

  std::vector<float> compressed(const std::vector<float>& x, const Layout& layout,
                                std::uint32_t round = 0) {
    compressor_->compress(x, layout, Random(5, Purpose::kRounding, 0, round), q_, nullptr);
    return expand(q_, layout.dim());
  }
};

TEST_P(CompressorContract, KeepsItsPromise) {
  const std::uint32_t draws = is_random() ? 400 : 1;
  for (const Layout& layout : layouts()) {
    const double quality = compressor_->quality(layout);
    ASSERT_GT(quality, 0);
    ASSERT_LE(quality, 1);
    const bool unbiased = compressor_->promise() == Promise::kUnbiased;
    const double bound = unbiased ? 1 / quality - 1 : 1 - quality;
    for (const std::vector<float>& x : vectors(layout.dim())) {
      double sum = 0;
      double squares = 0;
      double largest = 0;
      for (std::uint32_t draw = 0; draw < draws; ++draw) {
        const double error = squared_error(x, compressed(x, layout, draw));
        sum += error;
        squares += error * error;
        largest = std::max(largest, error);
      }
      // The mean of the draws is within this of the expectation (empirical Bernstein,
      // 1 in 10^4).
      const double mean = sum / draws;
      const double spread = std::sqrt(std::max(0.0, squares / draws - mean * mean) / draws);
      const double slack = is_random() ? 4.5 * spread + 24 * largest / draws : 0;
      const double norm = squared_norm(x);
      EXPECT_LE(mean, bound * norm + slack + 1e-12 * norm) << layout.dim();
    }
  }
}

TEST_P(CompressorContract, IsUnbiasedIfItSaysSo) {
  if (compressor_->promise() != Promise::kUnbiased) return;
  constexpr int kDraws = 2000;
  constexpr std::uint64_t kDirections = 8;
  for (const Layout& layout : layouts()) {
    if (layout.dim() == 0) continue;
    const std::vector<float> x = normal_vector(layout.dim(), 1);
    std::vector<std::vector<float>> directions{x};
    while (directions.size() < kDirections) {
      directions.push_back(normal_vector(x.size(), 100 + directions.size()));
    }
    std::vector<double> sum(kDirections);
    std::vector<double> squares(kDirections);
    for (std::uint32_t draw = 0; draw < kDraws; ++draw) {
      const std::vector<float> q = compressed(x, layout, draw);
      for (std::size_t j = 0; j < kDirections; ++j) {
        double dot = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          dot += (static_cast<double>(q[i]) - static_cast<double>(x[i])) * directions[j][i];
        }
        sum[j] += dot;
        squares[j] += dot * dot;
      }
    }
    // In every direction the mean error is within five standard errors of zero.
    for (std::size_t j = 0; j < kDirections; ++j) {
      const double mean = sum[j] / kDraws;
      const double variance = std::max(0.0, squares[j] / kDraws - mean * mean);
      EXPECT_LE(std::abs(mean), 5 * std::sqrt(variance / kDraws) + 1e-6 * squared_norm(x))
          << layout.dim() << ", direction " << j;
    }
  }
}

TEST_P(CompressorContract, LengthIsExactAndDecodeGivesTheSameBits) {
  for (const Layout& layout : layouts()) {
    for (std::vector<float> x : vectors(layout.dim())) {
      for (const float special : {0.0f, kInf, -kNan, 1e-42f, 3e38f}) {
        if (!x.empty()) x[x.size() / 3] = special;
        const Random random(9, Purpose::kRounding, 1, 2);
        Bytes wire{1, 2, 3};
        Decoded q;
        const std::size_t length = compressor_->compress(x, layout, random, q, &wire);
        ASSERT_EQ(wire.size(), 3 + length);
        Decoded dry;
        EXPECT_EQ(compressor_->compress(x, layout, random, dry, nullptr), length);
        EXPECT_TRUE(same_bits(q, dry));
        wire.push_back(0xff);
        ByteReader reader(ByteView(wire).subspan(3), "test");
        Decoded read;
        read.dense = {1, 2};  // stale contents
        read.index = {7};
        compressor_->decode(reader, layout, read);
        EXPECT_EQ(reader.left(), 1u);
        EXPECT_TRUE(same_bits(q, read)) << layout.dim();
      }
    }
  }
}

TEST_P(CompressorContract, DecodeRejectsEveryTruncation) {
  for (const Layout& layout : layouts()) {
    Bytes wire;
    const std::size_t length = compressor_->compress(normal_vector(layout.dim(), 4), layout,
                                                     Random(1, Purpose::kRounding), q_, &wire);
    for (std::size_t cut = 0; cut < length; ++cut) {
      ByteReader reader(ByteView(wire).first(cut), "test");
      EXPECT_THROW(compressor_->decode(reader, layout, q_), CorruptData) << cut << " of " << length;
    }
  }
}

TEST_P(CompressorContract, ZeroStaysZero) {
  for (const Layout& layout : layouts()) {
    for (const float v : compressed(std::vector<float>(layout.dim()), layout)) EXPECT_EQ(v, 0);
  }
}

TEST_P(CompressorContract, NonFiniteInputComesOutNonFinite) {
  // Random-k may omit the entry; every other operator must propagate it.
  if (GetParam().starts_with("randk") && GetParam() != "randk:keep=1") return;
  for (const Layout& layout : layouts()) {
    for (const float special : {kInf, -kInf, kNan}) {
      if (layout.dim() == 0) continue;
      std::vector<float> x = normal_vector(layout.dim(), 6);
      x[layout.dim() / 2] = special;
      bool shown = false;
      for (const float v : compressed(x, layout)) shown |= !std::isfinite(v);
      EXPECT_TRUE(shown) << layout.dim() << " " << special;
    }
  }
}

TEST_P(CompressorContract, IsAFunctionOfInputAndStream) {
  const Layout layout(300);
  const std::vector<float> x = normal_vector(300, 8);
  const std::vector<float> first = compressed(x, layout, 1);
  compressed(normal_vector(300, 9), layout, 2);
  EXPECT_TRUE(same_bits(compressed(x, layout, 1), first));
}

INSTANTIATE_TEST_SUITE_P(Registry, CompressorContract, ::testing::ValuesIn(specs()),
                         [](const auto& spec) {
                           std::string name = std::to_string(spec.index) + "_" + spec.param;
                           for (char& c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

TEST(MakeCompressor, NamesWhatThereIsWhenAskedForTheUnknown) {
  try {
    make_compressor("topq:keep=0.1");
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "[compressor] no compressor is named 'topq' (did you mean 'topk'?); there are "
                 "identity, topk, randk, qsgd, int8, sign");
  }
}

TEST(MakeCompressor, RejectsParametersOutOfRange) {
  for (const char* spec : {"topk:keep=0", "topk:keep=1.5", "topk:keep=nan", "topk:scope=tensor",
                           "topk:value=f8", "randk:keep=-1", "randk:scale=2", "qsgd:bits=0",
                           "qsgd:bits=17", "qsgd:bits=2.5", "qsgd:unbiased=yes", "sign:keep=1",
                           "int8:keep=0.5", "identity:1", "topk:keep=0.1,keep=0.2", ""}) {
    EXPECT_THROW(make_compressor(spec), InvalidArgument) << spec;
  }
}

TEST(TopKKeep, ReadsTheFractionOfAnyTopKAndOfNothingElse) {
  EXPECT_EQ(topk_keep(*make_compressor("topk:keep=0.1,scope=model,value=f16")), 0.1);
  EXPECT_EQ(topk_keep(*make_compressor("topk")), 0.01);
  EXPECT_EQ(topk_keep(*make_compressor("int8")), 1);
  EXPECT_EQ(topk_keep(*make_compressor("randk:keep=0.1")), 0);
  EXPECT_EQ(topk_keep(*make_compressor("identity")), 0);
}

TEST(PaperBytes, AreWhatThePapersCount) {
  Layout layout;
  for (const std::size_t n : {1000u, 5u, 0u, 2000u}) layout.add("t", {n});
  EXPECT_EQ(make_compressor("identity")->paper_bytes(layout), 4u * 3006);
  EXPECT_EQ(make_compressor("sign")->paper_bytes(layout), 4u * 3006);
  EXPECT_EQ(make_compressor("topk:keep=0.01")->paper_bytes(layout), 6u * (10 + 1 + 20) + 3);
  EXPECT_EQ(make_compressor("topk:keep=0.01,scope=model")->paper_bytes(layout), 6u * 30 + 3);
  EXPECT_EQ(make_compressor("randk:keep=0.01")->paper_bytes(layout), 6u * 30 + 3);
  EXPECT_EQ(make_compressor("qsgd:bits=3")->paper_bytes(layout), (3u * 3005 + 7) / 8);
  EXPECT_EQ(make_compressor("int8")->paper_bytes(layout), 3005u);
}

}  // namespace
}  // namespace hearsay::compress
