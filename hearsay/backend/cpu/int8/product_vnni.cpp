#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "hearsay/backend/cpu/int8/product_sets.h"

/// AVX-512 VNNI: VPDPBUSD multiplies unsigned by signed bytes, so b is used as b + 128 (its bits
/// with the sign flipped) and 128 times the sum of a's row is subtracted; both wrap alike. It is b
/// and not a because a block loads a vector of b for all of its rows, but a quad of a for each.
///
/// Blocks of 16 rows x 16 or 8 rows x 32 columns of sums in registers, so that the next product of
/// a sum waits for none before it; a quad of a is broadcast as it is loaded, 16 quads of b are one
/// vector. Rows are done in panels, whose sums are computed once for all columns. Products bound
/// it.
namespace hearsay::backend::cpu {

namespace {

// GCC 12's own headers leave the unused operand of shuffles and sums of lanes uninitialized.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#define HEARSAY_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

constexpr std::size_t kLanes = 16;
constexpr std::size_t kPanel = 256;  ///< rows whose sums are kept

HEARSAY_VNNI inline __m512i broadcast_quad(const std::int8_t* a) {
  std::int32_t quad;
  std::memcpy(&quad, a, sizeof quad);
  return _mm512_set1_epi32(quad);
}

/// Lane r: the sum of the lanes of x[r].
HEARSAY_VNNI inline __m512i sums_of_16(__m512i (&x)[16]) {
  for (std::size_t r = 0; r < 8; ++r) {
    x[r] = _mm512_add_epi32(_mm512_unpacklo_epi32(x[2 * r], x[2 * r + 1]),
                            _mm512_unpackhi_epi32(x[2 * r], x[2 * r + 1]));
  }
  for (std::size_t r = 0; r < 4; ++r) {
    x[r] = _mm512_add_epi32(_mm512_unpacklo_epi64(x[2 * r], x[2 * r + 1]),
                            _mm512_unpackhi_epi64(x[2 * r], x[2 * r + 1]));
  }
  // Each x[r] now has four parts of the sums of rows 4 r to 4 r + 3.
  constexpr int kEven = 0x88, kOdd = 0xdd;
  for (std::size_t r = 0; r < 2; ++r) {
    x[r] = _mm512_add_epi32(_mm512_shuffle_i32x4(x[2 * r], x[2 * r + 1], kEven),
                            _mm512_shuffle_i32x4(x[2 * r], x[2 * r + 1], kOdd));
  }
  return _mm512_add_epi32(_mm512_shuffle_i32x4(x[0], x[1], kEven),
                          _mm512_shuffle_i32x4(x[0], x[1], kOdd));
}

/// 128 times the sums of the terms of 16 rows.
HEARSAY_VNNI inline void row_sums_of_16(const ByteProduct& p, const std::int8_t* a,
                                        std::int32_t* row_sums) {
  const __m512i all = _mm512_set1_epi8(-128);  // as unsigned: 128
  const std::size_t whole = p.length / 64 * 64;
  const __mmask64 rest = (std::uint64_t{1} << (p.length - whole)) - 1;
  __m512i sums[kLanes];
  for (std::size_t r = 0; r < kLanes; ++r) sums[r] = _mm512_setzero_si512();
  for (const std::ptrdiff_t segment : p.segments) {
    const std::int8_t* terms = a + segment;
    for (std::size_t k = 0; k < whole; k += 64) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < kLanes; ++r) {
        const __m512i x = _mm512_loadu_si512(terms + r * p.stride + k);
        sums[r] = _mm512_dpbusd_epi32(sums[r], all, x);
      }
    }
    if (rest == 0) continue;
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kLanes; ++r) {
      const __m512i x = _mm512_maskz_loadu_epi8(rest, terms + r * p.stride + whole);
      sums[r] = _mm512_dpbusd_epi32(sums[r], all, x);
    }
  }
  _mm512_storeu_si512(row_sums, sums_of_16(sums));
}

/// Rows x 16 Vectors columns.
template <std::size_t Rows, std::size_t Vectors>
HEARSAY_VNNI inline void block(const ByteProduct& p, const std::int8_t* a, const std::int8_t* b,
                               const std::int32_t* row_sums, std::int32_t* c) {
  const __m512i flip = _mm512_set1_epi8(-128);
  __m512i sums[Rows][Vectors];
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = _mm512_setzero_si512();
  }
  for (const std::ptrdiff_t segment : p.segments) {
    const std::int8_t* terms = a + segment;
    for (std::size_t k = 0; k < p.length; k += 4, terms += 4, b += 4 * p.columns) {
      __m512i quads[Vectors];
      for (std::size_t v = 0; v < Vectors; ++v) {
        quads[v] = _mm512_xor_si512(_mm512_loadu_si512(b + 4 * v * kLanes), flip);
      }
      const std::int8_t* quad = terms;
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Rows; ++r, quad += p.stride) {
        const __m512i x = broadcast_quad(quad);
#pragma GCC unroll 2
        for (std::size_t v = 0; v < Vectors; ++v) {
          sums[r][v] = _mm512_dpbusd_epi32(sums[r][v], quads[v], x);
        }
      }
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    const __m512i sum = _mm512_set1_epi32(row_sums[r]);
    for (std::size_t v = 0; v < Vectors; ++v) {
      _mm512_storeu_si512(c + r * p.columns + v * kLanes, _mm512_sub_epi32(sums[r][v], sum));
    }
  }
}

/// `rows` rows of 16 Vectors columns, Rows at a time, then half as many, and so on.
template <std::size_t Rows, std::size_t Vectors>
HEARSAY_VNNI void columns(const ByteProduct& p, std::size_t rows, const std::int8_t* a,
                          const std::int8_t* b, const std::int32_t* row_sums, std::int32_t* c) {
  std::size_t i = 0;
  for (; i + Rows <= rows; i += Rows) {
    block<Rows, Vectors>(p, a + i * p.stride, b, row_sums + i, c + i * p.columns);
  }
  if constexpr (Rows > 1) {
    if (i < rows) {
      columns<Rows / 2, Vectors>(p, rows - i, a + i * p.stride, b, row_sums + i, c + i * p.columns);
    }
  }
}

}  // namespace

HEARSAY_VNNI void multiply_vnni(const ByteProduct& p, const std::int8_t* a, const std::int8_t* b,
                                std::int32_t* c) {
  std::int32_t row_sums[kPanel];
  for (std::size_t first = 0; first < p.rows; first += kPanel) {
    const std::size_t rows = std::min(kPanel, p.rows - first);
    const std::int8_t* panel = a + first * p.stride;
    std::int32_t* out = c + first * p.columns;
    for (std::size_t r = 0; r < rows; r += kLanes) {
      row_sums_of_16(p, panel + r * p.stride, row_sums + r);
    }
    std::size_t j = 0;
    for (; j + 2 * kLanes <= p.columns; j += 2 * kLanes) {
      columns<8, 2>(p, rows, panel, b + 4 * j, row_sums, out + j);
    }
    if (j < p.columns) columns<16, 1>(p, rows, panel, b + 4 * j, row_sums, out + j);
  }
}

}  // namespace hearsay::backend::cpu
