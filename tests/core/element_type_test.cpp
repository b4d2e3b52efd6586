#include "hearsay/core/element_type.h"

#include <gtest/gtest.h>

namespace hearsay {
namespace {

template <class T>
void expect_type(ElementType type, std::string_view name) {
  EXPECT_EQ(kElementTypeOf<T>, type);
  EXPECT_EQ(size_of(type), sizeof(T));
  EXPECT_EQ(name_of(type), name);
}

TEST(ElementType, HasTheSizeAndNameOfWhatCppReads) {
  expect_type<float>(ElementType::kF32, "f32");
  expect_type<std::int32_t>(ElementType::kI32, "i32");
  expect_type<std::uint32_t>(ElementType::kU32, "u32");
  expect_type<std::int16_t>(ElementType::kI16, "i16");
  expect_type<std::int8_t>(ElementType::kI8, "i8");
  expect_type<std::uint8_t>(ElementType::kU8, "u8");
}

TEST(ElementType, HasFloatsThatOnlyDevicesRead) {
  EXPECT_EQ(size_of(ElementType::kTf32), 4u);
  EXPECT_EQ(name_of(ElementType::kTf32), "tf32");
  EXPECT_EQ(size_of(ElementType::kBf16), 2u);
  EXPECT_EQ(name_of(ElementType::kBf16), "bf16");
  EXPECT_EQ(size_of(ElementType::kF16), 2u);
  EXPECT_EQ(name_of(ElementType::kF16), "f16");
}

TEST(ElementType, KnowsWhichNeedAScale) {
  for (const auto type : {ElementType::kI8, ElementType::kU8, ElementType::kI16}) {
    EXPECT_TRUE(is_quantized(type)) << name_of(type);
  }
  for (const auto type : {ElementType::kF32, ElementType::kTf32, ElementType::kBf16,
                          ElementType::kF16, ElementType::kI32, ElementType::kU32}) {
    EXPECT_FALSE(is_quantized(type)) << name_of(type);
  }
}

}  // namespace
}  // namespace hearsay
