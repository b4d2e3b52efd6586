#pragma once

#include <cstdint>
#include <string_view>

namespace hearsay::backend {

/// How convolutions and matrix products of networks are computed. Models, optimizer state and the
/// gossip are in single precision throughout.
enum class Precision : std::uint8_t {
  kTf32,  ///< products of 11-bit significands (tensor cores), activations rounded to them
  kFp32,  ///< products of floats
  kBf16,  ///< products of 8-bit significands, activations stored as bfloat16
  kInt8,  ///< products of signed bytes with 32-bit sums, activations stored as signed bytes
};

constexpr std::string_view name_of(Precision precision) {
  constexpr std::string_view kNames[] = {"tf32", "fp32", "bf16", "int8"};
  return kNames[static_cast<std::size_t>(precision)];
}

}  // namespace hearsay::backend
