#include "hearsay/engine/cpu/storage.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace hearsay::engine::cpu {
namespace {

struct Range {
  const std::byte* begin;
  std::size_t bytes;
};
Range values_of(const Tensor& tensor) { return {tensor.values, tensor.bytes()}; }
Range scales_of(const Tensor& tensor) {
  return {reinterpret_cast<const std::byte*>(tensor.scales), tensor.tiles.samples * sizeof(float)};
}
bool apart(const Range& a, const Range& b) {
  return a.begin + a.bytes <= b.begin || b.begin + b.bytes <= a.begin;
}

/// images -> hidden -> logits, each step reading its input in backward, for two samples.
struct Chain {
  explicit Chain(ElementType type)
      : images(storage.add({.channels = 16, .height = 8, .width = 8}, 2, 16, false)),
        hidden(storage.add({.channels = 16, .height = 8, .width = 8}, 2, 16, true, type)),
        logits(storage.add({.channels = 10, .height = 1, .width = 1}, 2, 10, true)) {
    storage.add_step({&images}, hidden, {.input_in_backward = true});
    storage.add_step({&hidden}, logits, {.input_in_backward = true});
    storage.place(logits);
  }

  Storage storage;
  Tensor &images, &hidden, &logits;
};

TEST(Storage, CountsTheBytesOfATensorsType) {
  Chain floats(ElementType::kF32), bytes(ElementType::kI8);
  EXPECT_EQ(floats.hidden.bytes(), 2u * 16 * 64 * 4);
  const std::size_t slack = 16 * Tensor::kBeyond;
  EXPECT_EQ(bytes.hidden.bytes(), 2u * 16 * 64 + slack);
  EXPECT_EQ(floats.storage.bytes() - bytes.storage.bytes(), 3u * 2 * 16 * 64 - slack - 64)
      << "a quarter of the values, what products read beyond them, and a cache line of scales";
}

TEST(Storage, GivesQuantizedTensorsAScalePerSample) {
  for (const ElementType type : {ElementType::kI8, ElementType::kU8, ElementType::kI16}) {
    Chain chain(type);
    EXPECT_EQ(chain.images.scales, nullptr);
    EXPECT_EQ(chain.logits.scales, nullptr);
    ASSERT_NE(chain.hidden.scales, nullptr) << name_of(type);
    for (const Tensor* other : {&chain.images, &chain.hidden, &chain.logits}) {
      EXPECT_TRUE(apart(scales_of(chain.hidden), values_of(*other))) << name_of(type);
    }
    EXPECT_TRUE(apart(values_of(chain.hidden), values_of(chain.images)));
    EXPECT_TRUE(apart(values_of(chain.hidden), values_of(chain.logits)));
    const Range gradient{reinterpret_cast<const std::byte*>(chain.hidden.gradient),
                         chain.hidden.tiles.size() * sizeof(float)};
    EXPECT_TRUE(apart(gradient, values_of(chain.hidden))) << "floats, whatever the values are";
    EXPECT_TRUE(apart(gradient, scales_of(chain.hidden)));
  }
}

}  // namespace
}  // namespace hearsay::engine::cpu
