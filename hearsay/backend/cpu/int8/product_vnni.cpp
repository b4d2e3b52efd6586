#include <immintrin.h>

#include <cstring>

#include "hearsay/backend/cpu/int8/product_sets.h"

/// AVX-512 VNNI: VPDPBUSD multiplies unsigned by signed bytes, so a is used as a + 128 (its bits
/// with the sign flipped) and 128 times the sum of b's column is subtracted; both wrap alike.
/// Blocks of 8 rows x 16 or 6 rows x 32 columns of sums in registers; a quad of a is broadcast, 16
/// quads of b are loaded. Products bound it.
namespace hearsay::backend::cpu {

namespace {

#define HEARSAY_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

constexpr std::size_t kLanes = 16;

HEARSAY_VNNI inline __m512i flipped_quad(const std::int8_t* a) {
  std::uint32_t quad;
  std::memcpy(&quad, a, sizeof quad);
  return _mm512_set1_epi32(static_cast<int>(quad ^ 0x80808080u));
}

/// Rows x 16 Vectors columns, starting from minus 128 times the sums of b's columns.
template <std::size_t Rows, std::size_t Vectors>
HEARSAY_VNNI inline void block(const ByteProduct& p, const std::int8_t* a, const std::int8_t* b,
                               const std::int32_t* start, std::int32_t* c) {
  __m512i sums[Rows][Vectors];
  for (std::size_t v = 0; v < Vectors; ++v) {
    for (std::size_t r = 0; r < Rows; ++r) sums[r][v] = _mm512_loadu_si512(start + v * kLanes);
  }
  for (const std::ptrdiff_t segment : p.segments) {
    const std::int8_t* row = a + segment;
    for (std::size_t k = 0; k < p.length; k += 4, b += 4 * p.columns) {
      __m512i quads[Vectors];
      for (std::size_t v = 0; v < Vectors; ++v) quads[v] = _mm512_loadu_si512(b + 4 * v * kLanes);
#pragma GCC unroll 8
      for (std::size_t r = 0; r < Rows; ++r) {
        const __m512i x = flipped_quad(row + r * p.stride + k);
#pragma GCC unroll 2
        for (std::size_t v = 0; v < Vectors; ++v) {
          sums[r][v] = _mm512_dpbusd_epi32(sums[r][v], x, quads[v]);
        }
      }
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < Vectors; ++v) {
      _mm512_storeu_si512(c + r * p.columns + v * kLanes, sums[r][v]);
    }
  }
}

/// All rows of 16 Vectors columns, Rows at a time.
template <std::size_t Rows, std::size_t Vectors>
HEARSAY_VNNI void columns(const ByteProduct& p, const std::int8_t* a, const std::int8_t* b,
                          const std::int32_t* start, std::int32_t* c) {
  std::size_t i = 0;
  for (; i + Rows <= p.rows; i += Rows) {
    block<Rows, Vectors>(p, a + i * p.stride, b, start, c + i * p.columns);
  }
  for (; i < p.rows; ++i) block<1, Vectors>(p, a + i * p.stride, b, start, c + i * p.columns);
}

}  // namespace

HEARSAY_VNNI void multiply_vnni(const ByteProduct& p, const std::int8_t* a, const std::int8_t* b,
                                std::int32_t* c) {
  std::size_t j = 0;
  alignas(64) std::int32_t start[2 * kLanes];
  const __m512i all = _mm512_set1_epi8(-128);  // as unsigned: 128
  while (j < p.columns) {
    const std::size_t vectors = p.columns - j >= 2 * kLanes ? 2 : 1;
    for (std::size_t v = 0; v < vectors; ++v) {
      __m512i sum = _mm512_setzero_si512();
      for (std::size_t k = 0; k < p.terms(); k += 4) {
        sum = _mm512_dpbusd_epi32(sum, all,
                                  _mm512_loadu_si512(b + k * p.columns + 4 * (j + v * kLanes)));
      }
      _mm512_store_si512(start + v * kLanes, _mm512_sub_epi32(_mm512_setzero_si512(), sum));
    }
    if (vectors == 2) {
      columns<6, 2>(p, a, b + 4 * j, start, c + j);
    } else {
      columns<8, 1>(p, a, b + 4 * j, start, c + j);
    }
    j += vectors * kLanes;
  }
}

}  // namespace hearsay::backend::cpu
