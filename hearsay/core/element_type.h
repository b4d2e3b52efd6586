#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hearsay {

/// The element type of an array. Models, gradients and all algorithm state are kF32.
enum class ElementType : std::uint8_t {
  kF32,
  kTf32,  ///< f32 with 11-bit significands, as tensor cores read them
  kBf16,
  kF16,
  kI32,
  kU32,
  kI16,
  kI8,
  kU8,
  kU16,
};

/// Bytes per element.
constexpr std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::kF32:
    case ElementType::kTf32:
    case ElementType::kI32:
    case ElementType::kU32:
      return 4;
    case ElementType::kBf16:
    case ElementType::kF16:
    case ElementType::kI16:
    case ElementType::kU16:
      return 2;
    case ElementType::kI8:
    case ElementType::kU8:
      return 1;
  }
  return 0;
}

constexpr std::string_view name_of(ElementType type) {
  constexpr std::string_view kNames[] = {"f32", "tf32", "bf16", "f16", "i32",
                                         "u32", "i16",  "i8",   "u8",  "u16"};
  return kNames[static_cast<std::size_t>(type)];
}

/// Whether an element represents a number only together with a scale.
constexpr bool is_quantized(ElementType type) {
  return type == ElementType::kI16 || type == ElementType::kI8 || type == ElementType::kU8;
}

/// The element type of arrays that C++ code accesses as T.
template <class T>
inline constexpr ElementType kElementTypeOf = [] {
  static_assert(sizeof(T) == 0, "no array has such elements");
  return ElementType::kF32;
}();
template <>
inline constexpr ElementType kElementTypeOf<float> = ElementType::kF32;
template <>
inline constexpr ElementType kElementTypeOf<std::int32_t> = ElementType::kI32;
template <>
inline constexpr ElementType kElementTypeOf<std::uint32_t> = ElementType::kU32;
template <>
inline constexpr ElementType kElementTypeOf<std::int16_t> = ElementType::kI16;
template <>
inline constexpr ElementType kElementTypeOf<std::int8_t> = ElementType::kI8;
template <>
inline constexpr ElementType kElementTypeOf<std::uint8_t> = ElementType::kU8;
template <>
inline constexpr ElementType kElementTypeOf<std::uint16_t> = ElementType::kU16;

}  // namespace hearsay
