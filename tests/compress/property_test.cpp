#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "compress/vectors.h"
#include "hearsay/core/error.h"

namespace hearsay::compress {
namespace {

const char* const kSpecs[] = {
    "identity",
    "sign",
    "topk:keep=0.2,scope=layer,value=f32",
    "topk:keep=0.05,scope=model,value=f16",
    "topk:keep=0.5,scope=layer,value=bf16",
    "topk:keep=0.3,scope=layer,value=q8",
    "topk:keep=1,scope=model,value=q8",
    "randk:keep=0.1",
    "randk:keep=0.4,scale=1",
    "qsgd:bits=1",
    "qsgd:bits=7,unbiased=1",
};

/// Arbitrary floats: half of them from random bits, which gives NaNs, infinities and subnormals.
rc::Gen<float> any_float() {
  return rc::gen::oneOf(
      rc::gen::map(rc::gen::arbitrary<std::uint32_t>(),
                   [](std::uint32_t bits) { return std::bit_cast<float>(bits); }),
      rc::gen::map(rc::gen::inRange(-4, 5), [](int v) { return 0.5f * static_cast<float>(v); }));
}

Layout any_layout() {
  Layout layout;
  const auto sizes =
      *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 40));
  for (const std::size_t size : sizes) layout.add("t", {size});
  return layout;
}

TEST(CompressProperty, DecodeOfEncodeIsWhatTheSenderSaw) {
  EXPECT_TRUE(rc::check([] {
    const auto compressor = make_compressor(
        *rc::gen::elementOf(std::vector<std::string>(std::begin(kSpecs), std::end(kSpecs))));
    const Layout layout = any_layout();
    const auto x = *rc::gen::container<std::vector<float>>(layout.dim(), any_float());
    const Random random(*rc::gen::arbitrary<std::uint64_t>(), Purpose::kRounding);
    Decoded sent;
    Decoded received;
    Bytes wire;
    const std::size_t length = compressor->compress(x, layout, random, sent, &wire);
    RC_ASSERT(length == wire.size());
    ByteReader reader(wire, "test");
    compressor->decode(reader, layout, received);
    RC_ASSERT(reader.left() == 0u);
    RC_ASSERT(same_bits(sent, received));
  }));
}

/// Untrusted bytes decode to something of the right shape, or throw CorruptData and nothing else.
void decode_foreign(const Compressor& compressor, const Layout& layout, const Bytes& wire) {
  ByteReader reader(wire, "test");
  Decoded q;
  try {
    compressor.decode(reader, layout, q);
  } catch (const CorruptData&) {
    return;
  }
  RC_ASSERT(well_formed(q, layout.dim()));
}

TEST(CompressProperty, RandomBytesAreRejectedOrHaveTheRightShape) {
  EXPECT_TRUE(rc::check([] {
    const Layout layout = any_layout();
    const Bytes wire = *rc::gen::arbitrary<Bytes>();
    for (const char* spec : kSpecs) decode_foreign(*make_compressor(spec), layout, wire);
  }));
}

TEST(CompressProperty, MutatedCodesAreRejectedOrHaveTheRightShape) {
  EXPECT_TRUE(rc::check([] {
    const Layout layout = any_layout();
    const auto x = *rc::gen::container<std::vector<float>>(layout.dim(), any_float());
    for (const char* spec : kSpecs) {
      const auto compressor = make_compressor(spec);
      Decoded q;
      Bytes wire;
      compressor->compress(x, layout, Random(1, Purpose::kRounding), q, &wire);
      if (wire.empty()) continue;
      const auto at = *rc::gen::inRange<std::size_t>(0, wire.size());
      wire[at] = *rc::gen::arbitrary<std::uint8_t>();
      decode_foreign(*compressor, layout, wire);
    }
  }));
}

TEST(CompressProperty, TopKIsTheStableSortsFirstK) {
  EXPECT_TRUE(rc::check([] {
    const auto x = *rc::gen::container<std::vector<float>>(any_float());
    const double keep = *rc::gen::elementOf(std::vector<double>{0.05, 0.25, 0.6, 1});
    Decoded q;
    make_compressor("topk:scope=model,keep=" + std::to_string(keep))
        ->compress(x, Layout(x.size()), Random(1, Purpose::kRounding), q, nullptr);
    std::vector<std::uint32_t> order(x.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::uint32_t i) {
      return std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffu;
    });
    order.resize(q.index.size());
    std::ranges::sort(order);
    RC_ASSERT(order == q.index);
  }));
}

}  // namespace
}  // namespace hearsay::compress
