#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hearsay/backend/cpu/int8/product_sets.h"

/// AMX: tiles of 16 rows of up to 64 bytes. TDPBSSD adds the products of a tile of a (16 rows x K
/// bytes) and one of b (K / 4 quads x 16 columns) to a tile of 16 x 16 sums. Eight tiles: four of
/// sums, so that each tile of a or b that is loaded serves two products (columns of 32) or a tile
/// of b four (columns of 16); loads bound it, two per cycle from the first cache.
///
/// GCC 12's tile instructions do not say which memory they access, hence the barriers.
namespace hearsay::backend::cpu {

namespace {

#define HEARSAY_AMX __attribute__((target("amx-tile,amx-int8")))

constexpr std::size_t kTile = 16;  // rows of a tile, and columns of sums

inline void barrier() { asm volatile("" ::: "memory"); }

struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};
};

/// Tiles 0 to 3: sums. 4 and 5: of a, with `chunk` bytes a row. 6 and 7: of b.
TileConfig config_of(std::size_t chunk) {
  TileConfig config;
  for (int t = 0; t < 8; ++t) {
    const bool of_a = t == 4 || t == 5;
    config.bytes[t] = static_cast<std::uint16_t>(of_a ? chunk : 64);
    config.rows[t] = static_cast<std::uint8_t>(t < 6 ? kTile : chunk / 4);
  }
  return config;
}

/// The longest row of a tile that divides a segment.
std::size_t chunk_of(std::size_t length) {
  std::size_t chunk = 64;
  while (length % chunk != 0) chunk -= 4;
  return chunk;
}

/// Calls body(place in a row of a, quads of b) for every chunk of the terms.
template <class Body>
HEARSAY_AMX inline __attribute__((always_inline)) void for_each_chunk(const ByteProduct& p,
                                                                      std::size_t chunk,
                                                                      const std::int8_t* b,
                                                                      const Body& body) {
  for (const std::ptrdiff_t segment : p.segments) {
    for (std::size_t k = 0; k < p.length; k += chunk, b += chunk * p.columns) {
      body(segment + static_cast<std::ptrdiff_t>(k), b);
    }
  }
}

/// 32 rows x 32 columns.
HEARSAY_AMX void block_2x2(const ByteProduct& p, std::size_t chunk, const std::int8_t* a,
                           const std::int8_t* b, std::int32_t* c) {
  const std::size_t quads = 4 * p.columns;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for_each_chunk(p, chunk, b, [&](std::ptrdiff_t at, const std::int8_t* own) HEARSAY_AMX {
    _tile_loadd(4, a + at, p.stride);
    _tile_loadd(6, own, quads);
    _tile_dpbssd(0, 4, 6);
    _tile_loadd(7, own + 4 * kTile, quads);
    _tile_dpbssd(1, 4, 7);
    _tile_loadd(5, a + kTile * p.stride + at, p.stride);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  });
  _tile_stored(0, c, quads);
  _tile_stored(1, c + kTile, quads);
  _tile_stored(2, c + kTile * p.columns, quads);
  _tile_stored(3, c + kTile * p.columns + kTile, quads);
}

/// 64 rows x 16 columns.
HEARSAY_AMX void block_4x1(const ByteProduct& p, std::size_t chunk, const std::int8_t* a,
                           const std::int8_t* b, std::int32_t* c) {
  const std::size_t quads = 4 * p.columns, down = kTile * p.stride, next = kTile * p.columns;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for_each_chunk(p, chunk, b, [&](std::ptrdiff_t at, const std::int8_t* own) HEARSAY_AMX {
    _tile_loadd(6, own, quads);
    _tile_loadd(4, a + at, p.stride);
    _tile_dpbssd(0, 4, 6);
    _tile_loadd(5, a + down + at, p.stride);
    _tile_dpbssd(1, 5, 6);
    _tile_loadd(4, a + 2 * down + at, p.stride);
    _tile_dpbssd(2, 4, 6);
    _tile_loadd(5, a + 3 * down + at, p.stride);
    _tile_dpbssd(3, 5, 6);
  });
  _tile_stored(0, c, quads);
  _tile_stored(1, c + next, quads);
  _tile_stored(2, c + 2 * next, quads);
  _tile_stored(3, c + 3 * next, quads);
}

/// 16 rows x 16 columns.
HEARSAY_AMX void block_1x1(const ByteProduct& p, std::size_t chunk, const std::int8_t* a,
                           const std::int8_t* b, std::int32_t* c) {
  _tile_zero(0);
  for_each_chunk(p, chunk, b, [&](std::ptrdiff_t at, const std::int8_t* own) HEARSAY_AMX {
    _tile_loadd(4, a + at, p.stride);
    _tile_loadd(6, own, 4 * p.columns);
    _tile_dpbssd(0, 4, 6);
  });
  _tile_stored(0, c, 4 * p.columns);
}

}  // namespace

bool has_amx() {
  static const bool found = [] {
    if (!__builtin_cpu_supports("avx512vl")) return false;  // GCC 12 cannot ask for AMX itself
    unsigned eax = 7, ebx = 0, ecx = 0, edx = 0;
    asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
    constexpr unsigned kTiles = 1u << 24, kBytes = 1u << 25;
    if ((edx & kTiles) == 0 || (edx & kBytes) == 0) return false;
    constexpr long kRequestPermission = 0x1023, kTileData = 18;
    return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return found;
}

HEARSAY_AMX void multiply_amx(const ByteProduct& p, const std::int8_t* a, const std::int8_t* b,
                              std::int32_t* c) {
  const std::size_t chunk = chunk_of(p.length);
  const TileConfig config = config_of(chunk);
  asm volatile("" ::"r"(&config) : "memory");
  _tile_loadconfig(&config);
  const std::size_t rows = p.padded_rows();
  const auto each = [&](std::size_t i, std::size_t j, auto block) HEARSAY_AMX {
    block(p, chunk, a + i * p.stride, b + 4 * j, c + i * p.columns + j);
  };
  std::size_t j = 0;
  for (; j + 2 * kTile <= p.columns; j += 2 * kTile) {
    std::size_t i = 0;
    for (; i + 2 * kTile <= rows; i += 2 * kTile) each(i, j, block_2x2);
    for (; i < rows; i += kTile) {
      each(i, j, block_1x1);
      each(i, j + kTile, block_1x1);
    }
  }
  for (; j < p.columns; j += kTile) {
    std::size_t i = 0;
    for (; i + 4 * kTile <= rows; i += 4 * kTile) each(i, j, block_4x1);
    for (; i < rows; i += kTile) each(i, j, block_1x1);
  }
  _tile_release();
  barrier();
}

}  // namespace hearsay::backend::cpu
