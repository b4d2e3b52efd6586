#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compress/vectors.h"
#include "hearsay/compress/code/message.h"
#include "hearsay/model/models.h"

namespace hearsay::compress {
namespace {

Bytes message(const char* spec, const std::vector<float>& x, const Layout& layout) {
  Bytes wire;
  append_header(
      {.kind = MessageKind::kModel, .sender = 3, .round = 41, .weight = 0.25f, .push_sum = 1.5},
      wire);
  Decoded q;
  make_compressor(spec)->compress(x, layout, Random(1, Purpose::kRounding), q, &wire);
  return wire;
}

Bytes body(const char* spec, const std::vector<float>& x, const Layout& layout) {
  const Bytes wire = message(spec, x, layout);
  return Bytes(wire.begin() + kHeaderBytes, wire.end());
}

/// The example bytes of docs/wire_format.md. A change here requires a new message version.
TEST(WireFormat, IsWhatTheDocumentSays) {
  std::vector<float> x(40);
  x[5] = 1.5f;
  x[17] = -3;
  x[38] = 0.25f;
  const Bytes expected{
      0x01, 0x01, 0x6f, 0xb8, 0x03, 0x00, 0x00, 0x00, 0x29, 0x00, 0x00, 0x00,  // header
      0x00, 0x00, 0x80, 0x3e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf8, 0x3f,
      0x03, 0xeb, 0x48,                    // indices
      0x00, 0x3e, 0x00, 0xc2, 0x00, 0x34,  // values
  };
  EXPECT_EQ(message("topk:keep=0.08,scope=model,value=f16", x, Layout(40)), expected);
}

TEST(WireFormat, OfTheOtherOperatorsIsWhatTheDocumentSays) {
  Layout layout;
  layout.add("weight", {2, 4});
  layout.add("bias", {2});
  const std::vector<float> x{0.5f, -3, 0.25f, 0, 1.5f, -0.5f, 2, 0.125f, -1, 0.75f};
  EXPECT_EQ(body("topk:keep=0.5,scope=layer,value=q8", x, layout),
            (Bytes{0x00, 0x53, 0x01, 0x00, 0x00, 0x40, 0x40, 0x00, 0x00, 0x80, 0x3f,  //
                   0x15, 0x81, 0x40, 0x55, 0x81}));
  EXPECT_EQ(body("int8", x, layout),
            (Bytes{0x00, 0x00, 0x40, 0x40, 0x00, 0x00, 0x80, 0x3f,  //
                   0x15, 0x81, 0x0b, 0x00, 0x40, 0xeb, 0x55, 0x05, 0x81, 0x5f}));
  EXPECT_EQ(body("sign", x, layout),
            (Bytes{0x00, 0x00, 0x7c, 0x3f, 0x00, 0x00, 0x60, 0x3f, 0x22, 0x01}));
  EXPECT_EQ(body("qsgd:bits=2", x, layout),
            (Bytes{0x0d, 0x9f, 0x7e, 0x40, 0x00, 0x00, 0xa0, 0x3f, 0x18, 0xd2, 0xf0, 0x00}));
  EXPECT_EQ(body("randk:keep=0.3", x, layout), (Bytes{0x00, 0x45, 0x00, 0x00, 0x00, 0x3f, 0x00,
                                                      0x00, 0x80, 0x3e, 0x00, 0x00, 0x00, 0x40}));
  EXPECT_EQ(body("identity", {1, -2}, Layout(2)),
            (Bytes{0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x00, 0xc0}));
}

/// Decoded only by the rules of the document.
TEST(WireFormat, OfLevelsHasTheValuesThatTheDocumentSays) {
  Layout layout;
  layout.add("weight", {2, 4});
  layout.add("bias", {2});
  const std::vector<float> x{0.5f, -3, 0.25f, 0, 1.5f, -0.5f, 2, 0.125f, -1, 0.75f};
  const int levels[] = {0, -2, 0, 0, 1, -1, 1, 0, -3, 1};  // as in the document's example
  for (const bool unbiased : {false, true}) {
    const std::string spec = unbiased ? "qsgd:bits=2,unbiased=1" : "qsgd:bits=2";
    const Bytes wire = body(spec.c_str(), x, layout);
    ByteReader norms(wire, "norms"), in(wire, "vector");
    Decoded q;
    make_compressor(spec)->decode(in, layout, q);
    for (const Segment& segment : layout.segments()) {
      const double norm = norms.read<float>(), s = 3, m = static_cast<double>(segment.size);
      const double tau = unbiased ? 1 : 1 + std::min(m / (s * s), std::sqrt(m) / s);
      const auto step = static_cast<float>(norm / (s * tau));
      for (std::size_t i = segment.offset; i < segment.offset + segment.size; ++i) {
        EXPECT_EQ(q.dense[i], static_cast<float>(levels[i]) * step) << spec << " " << i;
      }
    }
  }
}

TEST(WireSize, OfATopThousandthInHalvesIsAtMost3Point6BytesAnEntry) {
  constexpr std::size_t kDim = 200'000;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Bytes wire =
        message("topk:keep=0.001,scope=model,value=f16", normal_vector(kDim, seed), Layout(kDim));
    EXPECT_LE(static_cast<double>(wire.size()) / 200, 3.6);
  }
}

/// At most 1.10 times the entropy of the index set plus the bits of the values.
TEST(WireSize, IsNearTheEntropyBound) {
  constexpr std::size_t kDim = 200'000;
  Layout layers;
  for (const std::size_t n : {64u, 100'000u, 10u, 99'926u}) layers.add("t", {n});
  const std::vector<float> x = normal_vector(kDim, 7);
  struct Format {
    const char* name;
    double bits;
  };
  for (const char* keep : {"0.001", "0.01", "0.1", "0.5", "0.9", "1"}) {
    for (const Format& format :
         {Format{"f32", 32}, Format{"f16", 16}, Format{"bf16", 16}, Format{"q8", 8}}) {
      for (const char* scope : {"layer", "model"}) {
        const std::string spec =
            std::string("topk:keep=") + keep + ",scope=" + scope + ",value=" + format.name;
        const Bytes code = body(spec.c_str(), x, layers);
        Decoded q;
        make_compressor(spec)->compress(x, layers, Random(1, Purpose::kRounding), q, nullptr);
        const double d = kDim;
        const double k = static_cast<double>(q.index.size());
        const double set =
            (std::lgamma(d + 1) - std::lgamma(k + 1) - std::lgamma(d - k + 1)) / std::log(2.0);
        EXPECT_LE(8 * static_cast<double>(code.size()), 1.10 * (set + format.bits * k)) << spec;
      }
    }
  }
}

/// A model in 8 bits against the same in floats, headers included.
TEST(WireSize, OfInt8IsNearlyAQuarter) {
  const model::Network network = model::make_model("resnet20", {3, 32, 32}, 10);
  const Layout& layout = network.layout();
  ASSERT_EQ(layout.dim(), 269'722u);
  const std::vector<float> x = normal_vector(layout.dim(), 3);
  const std::size_t bytes = message("int8", x, layout).size();
  EXPECT_EQ(bytes, kHeaderBytes + layout.dim() + 4 * layout.segments().size());
  const double ratio =
      static_cast<double>(message("identity", x, layout).size()) / static_cast<double>(bytes);
  EXPECT_GE(ratio, 3.95);
  EXPECT_LT(ratio, 4.0);
}

TEST(WireSize, OfADenseMessageHasNoIndices) {
  EXPECT_EQ(body("topk:keep=1,value=f16", normal_vector(1000, 1), Layout(1000)).size(), 2000u);
}

}  // namespace
}  // namespace hearsay::compress
