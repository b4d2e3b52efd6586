#include <immintrin.h>

#include <cstring>

#include "hearsay/backend/cpu/int8/product_sets.h"

/// AVX2: bytes widened to 16 bits, VPMADDWD adds two products of a quad in 32 bits. A quad gives
/// two sums, which are added at the end. (VPMADDUBSW would saturate.) Blocks of 2 rows x 16
/// columns: 8 registers of sums, 4 of b. Products bound it, at an eighth of VNNI's.
namespace hearsay::backend::cpu {

namespace {

#define HEARSAY_AVX2 __attribute__((target("avx2")))

constexpr std::size_t kColumns = 16, kVectors = 4;  // of 4 columns each

/// Four bytes of a as 16 bits, repeated.
HEARSAY_AVX2 inline __m256i wide_quad(const std::int8_t* a) {
  std::int32_t quad;
  std::memcpy(&quad, a, sizeof quad);
  return _mm256_cvtepi8_epi16(_mm_set1_epi32(quad));
}

/// [x0 x1 | x2 x3 ...] of two vectors of pairs, each pair added: 8 columns in order.
HEARSAY_AVX2 inline __m256i add_pairs(__m256i low, __m256i high) {
  return _mm256_permute4x64_epi64(_mm256_hadd_epi32(low, high), 0b11011000);
}

template <std::size_t Rows>
HEARSAY_AVX2 inline void block(const ByteProduct& p, const std::int8_t* a, const std::int8_t* b,
                               std::int32_t* c) {
  __m256i sums[Rows][kVectors];
  for (auto& row : sums) {
    for (__m256i& sum : row) sum = _mm256_setzero_si256();
  }
  for (const std::ptrdiff_t segment : p.segments) {
    const std::int8_t* row = a + segment;
    for (std::size_t k = 0; k < p.length; k += 4, b += 4 * p.columns) {
      __m256i x[Rows];
      for (std::size_t r = 0; r < Rows; ++r) x[r] = wide_quad(row + r * p.stride + k);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kVectors; ++v) {
        const auto* quads = reinterpret_cast<const __m128i*>(b + 16 * v);
        const __m256i w = _mm256_cvtepi8_epi16(_mm_loadu_si128(quads));
#pragma GCC unroll 2
        for (std::size_t r = 0; r < Rows; ++r) {
          sums[r][v] = _mm256_add_epi32(sums[r][v], _mm256_madd_epi16(x[r], w));
        }
      }
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < kVectors; v += 2) {
      auto* out = reinterpret_cast<__m256i*>(c + r * p.columns + 4 * v);
      _mm256_storeu_si256(out, add_pairs(sums[r][v], sums[r][v + 1]));
    }
  }
}

}  // namespace

HEARSAY_AVX2 void multiply_avx2(const ByteProduct& p, const std::int8_t* a, const std::int8_t* b,
                                std::int32_t* c) {
  for (std::size_t j = 0; j < p.columns; j += kColumns) {
    std::size_t i = 0;
    for (; i + 2 <= p.rows; i += 2) {
      block<2>(p, a + i * p.stride, b + 4 * j, c + i * p.columns + j);
    }
    if (i < p.rows) block<1>(p, a + i * p.stride, b + 4 * j, c + i * p.columns + j);
  }
}

}  // namespace hearsay::backend::cpu
