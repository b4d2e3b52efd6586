#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <cuda_bf16.h>

#include "hearsay/core/element_type.h"
#include "hearsay/core/error.h"

/// How kernels read and write the entries of tensors: as floats, whatever they are stored as.
namespace hearsay::engine::cuda {

using BFloat16 = __nv_bfloat16;

/// A float with a significand of 11 bits: what the tensor cores read of it is all there is.
struct Tf32Float {
  float value;
};

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(Tf32Float x) { return x.value; }
__device__ inline float to_float(BFloat16 x) { return __bfloat162float(x); }

/// The nearest number of that type.
template <class T>
__device__ T from_float(float x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else if constexpr (std::is_same_v<T, Tf32Float>) {
    std::uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return {__uint_as_float(bits)};
  } else {
    return __float2bfloat16_rn(x);
  }
}

/// Entries of one access of 16 bytes.
template <class T>
constexpr int kWide = static_cast<int>(16 / sizeof(T));

/// W neighbouring entries as they are stored, in one access: W > 1 is kWide<T>, and `from` a
/// multiple of 16 bytes.
template <class T, int W>
struct Entries {
  static_assert(W == 1 || W == kWide<T>);
  std::conditional_t<W == 1, T, uint4> raw;
};
template <int W, class T>
__device__ Entries<T, W> load_entries(const T* from) {
  return {*reinterpret_cast<const decltype(Entries<T, W>::raw)*>(from)};
}
template <int W, class T>
__device__ void unpack(const Entries<T, W>& entries, float (&to)[W]) {
  const T* each = reinterpret_cast<const T*>(&entries.raw);
#pragma unroll
  for (int k = 0; k < W; ++k) to[k] = to_float(each[k]);
}

/// The same as floats.
template <int W, class T>
__device__ void load(const T* from, float (&to)[W]) {
  unpack<W, T>(load_entries<W>(from), to);
}

template <int W, class T>
__device__ void store(const float (&from)[W], T* to) {
  if constexpr (W == 1) {
    *to = from_float<T>(from[0]);
  } else {
    static_assert(W == kWide<T>);
    uint4 raw;
    T* entries = reinterpret_cast<T*>(&raw);
#pragma unroll
    for (int k = 0; k < W; ++k) entries[k] = from_float<T>(from[k]);
    *reinterpret_cast<uint4*>(to) = raw;
  }
}

/// A gradient: overwrites what is there, or is added to it.
template <int W, class T>
__device__ void store_gradient(const float (&from)[W], bool add, T* to) {
  float sum[W];
  if (add) load(to, sum);
#pragma unroll
  for (int k = 0; k < W; ++k) sum[k] = add ? sum[k] + from[k] : from[k];
  store(sum, to);
}

template <class T>
__device__ void store_gradient(float value, bool add, T* to) {
  const float one[1] = {value};
  store_gradient(one, add, to);
}

/// Calls body(std::type_identity<T>()) with the type as which kernels read entries of `type`.
template <class Body>
void with_storage(ElementType type, const Body& body) {
  switch (type) {
    case ElementType::kTf32:
      return body(std::type_identity<Tf32Float>());
    case ElementType::kF32:
      return body(std::type_identity<float>());
    case ElementType::kBf16:
      return body(std::type_identity<BFloat16>());
    default:
      throw InvalidArgument("[cuda] no kernel reads tensors of " + std::string(name_of(type)));
  }
}

/// Calls body(std::type_identity<T>(), std::integral_constant<int, W>()): W is the widest access
/// with which runs of `run` entries can be read.
template <class Body>
void with_width(ElementType type, std::size_t run, const Body& body) {
  with_storage(type, [&]<class T>(std::type_identity<T> entry) {
    if (run % kWide<T> == 0) {
      body(entry, std::integral_constant<int, kWide<T>>());
    } else {
      body(entry, std::integral_constant<int, 1>());
    }
  });
}

/// Blocks of `threads` for `count` pieces of work, one per thread.
inline unsigned blocks_for(std::size_t count, unsigned threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

}  // namespace hearsay::engine::cuda
