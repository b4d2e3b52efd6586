#pragma once

#include <cstddef>
#include <cstdint>

namespace hearsay::engine::cuda {

/// Division of n < 2^16 by a small d as one multiplication.
struct Divisor {
  int d = 1;
  std::uint32_t magic = 0;

  Divisor() = default;
  explicit Divisor(int divisor)
      : d(divisor),
        magic(divisor == 1 ? 0
                           : static_cast<std::uint32_t>((std::uint64_t{1} << 32) / divisor) + 1) {}
};

/// A convolution as blocks compute it: a block owns a tile of output pixels, tile_i images x tile_h
/// x tile_w, and reads the patch of the input that those need for all taps, chunk by chunk of
/// channels.
///
/// Output pixel (y, x) with tap (k, l) reads position (stride y + k - pad, stride x + l - pad) of
/// the input, whose entries stand `dilation` apart with zeros between: so the gradient with respect
/// to the input of a convolution is one too, with stride and dilation exchanged.
struct ConvGeometry {
  int images = 0;  ///< of one peer
  int in_h = 0, in_w = 0, in_c = 0;
  int out_h = 0, out_w = 0, out_c = 0;
  int kernel = 1, stride = 1, pad = 0, dilation = 1;
  int tile_i = 1, tile_h = 1, tile_w = 1;  ///< powers of two
  int log_h = 0, log_w = 0;
  int patch_h = 1, patch_w = 1;
  int taps = 1;                             ///< kernel^2
  int tiles_y = 1, tiles_x = 1, tiles = 1;  ///< tiles: of one peer
  Divisor patch_height, tile_height;

  constexpr int patch_positions() const { return tile_i * patch_h * patch_w; }
};

/// Whether the output can be computed in quarters, (2 a + i, 2 b + j) with i and j 0 or 1, without
/// the zeros between the entries. Of the taps of a pixel only those that read even positions meet
/// entries, here (y + k - 1, x + l - 1): in lines with i = 0 tap k = 1, which reads line a of the
/// entries, in those with i = 1 taps k = 0, which reads line a too, and k = 2, which reads a + 1;
/// so in columns. Four pixels then have 1, 2, 2 and 4 taps, not 9 each, all on the same four
/// entries.
inline bool has_quarters(const ConvGeometry& g) {
  return g.kernel == 3 && g.stride == 1 && g.dilation == 2 && g.pad == 1 && g.out_h > 1 &&
         g.out_w > 1;
}

/// Lays tiles of `pixels` (a power of two) over the output. All but the tiles are given. Where it
/// is computed in quarters, a tile begins at an even pixel and its patch is of entries alone.
inline void lay_tiles(ConvGeometry& g, int pixels, bool quarters = false) {
  const auto log_of = [](int n) {  // of the next power of two
    int log = 0;
    while ((1 << log) < n) ++log;
    return log;
  };
  int left = log_of(pixels);
  constexpr int kWidest = 4, kUsualHeight = 3;  // logs
  const int widest = left - kUsualHeight < kWidest ? left - kUsualHeight : kWidest;
  g.log_w = log_of(g.out_w) < widest ? log_of(g.out_w) : widest;
  left -= g.log_w;
  g.log_h = log_of(g.out_h) < left ? log_of(g.out_h) : left;
  left -= g.log_h;
  g.tile_w = 1 << g.log_w;
  g.tile_h = 1 << g.log_h;
  g.tile_i = 1 << left;
  g.taps = g.kernel * g.kernel;
  g.patch_h = quarters ? g.tile_h / 2 + 1 : (g.tile_h - 1) * g.stride + g.kernel;
  g.patch_w = quarters ? g.tile_w / 2 + 1 : (g.tile_w - 1) * g.stride + g.kernel;
  g.tiles_y = (g.out_h + g.tile_h - 1) / g.tile_h;
  g.tiles_x = (g.out_w + g.tile_w - 1) / g.tile_w;
  g.tiles = (g.images + g.tile_i - 1) / g.tile_i * g.tiles_y * g.tiles_x;
  g.patch_height = Divisor(g.patch_h);
  g.tile_height = Divisor(g.tile_h);
}

/// The same convolution, tiles and all, as one product of output channels x pixels x columns:
/// column (c kernel + k) kernel + l holds what tap (k, l) reads of channel c.
inline ConvGeometry by_columns(ConvGeometry g) {
  g.in_c *= g.taps;
  g.taps = 1;
  return g;
}
constexpr int channels_of_columns(const ConvGeometry& g) { return g.in_c / (g.kernel * g.kernel); }

/// TMA copies from multiples of 16 bytes on. Where tiles begin at such, a patch begins `pad` pixels
/// before, and so many unused bytes come before each of its rows.
constexpr int patch_row_shift(const ConvGeometry& g, int entry_bytes) {
  return (16 - g.pad * channels_of_columns(g) * entry_bytes % 16) % 16;
}
/// Bytes of a row of its patch as TMA copies it, in pieces of 16 bytes.
constexpr int patch_row_bytes(const ConvGeometry& g, int entry_bytes) {
  const int bytes = g.patch_w * channels_of_columns(g) * entry_bytes;
  return (patch_row_shift(g, entry_bytes) + bytes + 15) / 16 * 16;
}

}  // namespace hearsay::engine::cuda
