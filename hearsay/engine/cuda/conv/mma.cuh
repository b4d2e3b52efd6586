#pragma once

#include <cstdint>

#include "hearsay/engine/cuda/numbers.h"

namespace hearsay::engine::cuda {

// One PTX instruction each, executed by a whole warp: lane = 4 g + t with g in 0..7 and t in 0..3.
// A row of 32 bytes is 8 floats or 16 bfloat16; a fragment of A is 16 such rows (4 registers per
// lane), one of B 8 rows (2 registers), and the accumulator of a 16 x 8 product (4 floats) holds
// (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1).

__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// ldmatrix.x4: four matrices of 8 rows x 16 bytes from shared memory; lane 8 i + r gives the
/// address of row r of matrix i, and gets 4 bytes of each. Free of bank conflicts if the 8 rows of
/// a matrix are in different groups of 4 banks. The transposed forms exist for 2-byte entries only.
__device__ inline void load_matrices(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}
__device__ inline void load_matrices_transposed(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}
__device__ inline void load_two_matrices_transposed(std::uint32_t& r0, std::uint32_t& r1,
                                                    std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(r0), "=r"(r1)
               : "r"(address));
}

/// cp.async: 16 bytes, past L1, of which the first `bytes` are read and the others are zeros.
__device__ inline void copy_16_async(std::uint32_t shared, const void* global, int bytes = 16) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global),
               "r"(bytes));
}
__device__ inline void copy_4_async(std::uint32_t shared, const void* global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared), "l"(global));
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;"); }
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

/// c += a b on the tensor cores: 16 x 8 x 8, factors of 11-bit significands, sums in float.
__device__ inline void multiply_tf32(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                     std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// How products are formed from rows of 32 bytes: c (16 x 8) += a (16 x K) b (K x 8). `Entry` is
/// what activations and weights are stored as. One mma.sync.m16n8k8 per product.
struct Tf32 {
  using Entry = Tf32Float;
  __device__ static void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                  std::uint32_t b1) {
    multiply_tf32(c, a, b0, b1);
  }
};

/// Floats as sums of two 11-bit parts, high + low: three mma.sync of tf32 (low x high, high x low,
/// high x high); what is left out of a product is below 2^-21 of it. Parts are split in registers
/// at every use. Tensor cores truncate sums, so the three start from zero and are added to c in
/// float.
struct Fp32 {
  using Entry = float;
  __device__ static float rounded(std::uint32_t word) {
    return from_float<Tf32Float>(__uint_as_float(word)).value;
  }
  __device__ static std::uint32_t high(std::uint32_t word) {
    return __float_as_uint(rounded(word));
  }
  __device__ static std::uint32_t low(std::uint32_t word) {
    const float rest = __uint_as_float(word) - rounded(word);
    return __float_as_uint(from_float<Tf32Float>(rest).value);
  }
  __device__ static void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                  std::uint32_t b1) {
    const std::uint32_t big[4] = {high(a[0]), high(a[1]), high(a[2]), high(a[3])};
    const std::uint32_t small[4] = {low(a[0]), low(a[1]), low(a[2]), low(a[3])};
    // The tensor core truncates where float addition rounds, so long sums are made outside.
    float product[4] = {};
    multiply_tf32(product, small, high(b0), high(b1));
    multiply_tf32(product, big, low(b0), low(b1));
    multiply_tf32(product, big, high(b0), high(b1));
#pragma unroll
    for (int i = 0; i < 4; ++i) c[i] += product[i];
  }
};

/// One mma.sync.m16n8k16 per product, accumulated in float by the tensor core.
struct Bf16 {
  using Entry = BFloat16;
  __device__ static void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                  std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};

}  // namespace hearsay::engine::cuda
