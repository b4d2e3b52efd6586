#include "hearsay/engine/cuda/conv/conv_choice.h"

#include <algorithm>

namespace hearsay::engine::cuda {

namespace {

constexpr int kWidestBox = 256;  // TMA's limit for each side of a box

std::span<const ConvKernel> conv_kernels(backend::Precision precision) {
  return precision == backend::Precision::kTf32   ? conv_kernels_tf32()
         : precision == backend::Precision::kFp32 ? conv_kernels_fp32()
                                                  : conv_kernels_bf16();
}

std::span<const WeightKernel> weight_kernels(backend::Precision precision) {
  return precision == backend::Precision::kTf32   ? weight_kernels_tf32()
         : precision == backend::Precision::kFp32 ? weight_kernels_fp32()
                                                  : weight_kernels_bf16();
}

/// Whether TMA can bring the tiles, as far as grad_output and shared memory are concerned.
bool can_use_tma(const Site& site, const WeightKernel& kernel, const ConvGeometry& g) {
  return site.has_tma && g.out_c % 16 == 0 && g.images % g.tile_i == 0 &&
         kernel.tma_shared_bytes(g) <= site.shared_bytes;
}

/// g: by columns. Rows of images, and of patches, must be what TMA can copy (multiples of 16 bytes,
/// sides of at most kWidestBox).
bool can_have_columns(const Site& site, const WeightKernel& kernel, const ConvGeometry& g,
                      bool bias) {
  const int entry = site.x->entry_bytes();
  return g.in_c + (bias ? 1 : 0) <= kernel.in &&
         g.in_w * channels_of_columns(g) * entry % 16 == 0 &&
         (g.tiles_x == 1 || g.tile_w * g.stride * channels_of_columns(g) * entry % 16 == 0) &&
         std::max(patch_row_bytes(g, entry) / entry, g.patch_h) <= kWidestBox &&
         can_use_tma(site, kernel, g);
}

}  // namespace

ConvChoice choose(const Site& site, ConvGeometry g, bool backward) {
  const int entry = site.x->entry_bytes();
  ConvChoice best;
  double least = 0;
  for (const ConvKernel& kernel : conv_kernels(site.precision)) {
    lay_tiles(g, kernel.pixels, kernel.quarters);
    if (kernel.whole != (g.in_c * entry % 16 == 0) || !kernel.takes(g)) continue;
    const int chunks = divide_up(g.in_c * entry, kernel.bytes);
    if (kernel.uses_tma() ? !site.has_tma || g.in_c * entry % kernel.bytes != 0 ||
                                std::max(g.patch_h, g.patch_w) > kWidestBox
                          : best.kernel != nullptr && best.kernel->uses_tma()) {
      continue;
    }
    const int resident_bytes = kernel.shared_bytes(g, chunks, true, backward);
    const bool resident = kernel.uses_tma() && resident_bytes <= site.shared_bytes;
    const int shared = resident ? resident_bytes : kernel.shared_bytes(g, chunks, false, backward);
    if (shared > site.shared_bytes) continue;
    const double blocks =
        static_cast<double>(g.tiles) * divide_up(g.out_c, kernel.out) * kUsualPeers;
    const double products = static_cast<double>(kernel.pixels) * kernel.out * chunks * kernel.bytes;
    const double waves = std::max(1.0, blocks / site.processors);
    // Bytes read from shared memory per product fall with the size of the block's tile; a strip
    // reads its pixels about half as often.
    const double reads = 1.0 / kernel.pixels + (kernel.strip_height > 0 ? 0.5 : 1.0) / kernel.out;
    // A chunk that is loaded while nothing is computed costs as much as this many products.
    const double waits = chunks * (chunks > 1 ? 40e3 : 60e3);
    // Few threads on a multiprocessor wait more than they compute.
    constexpr int kEnoughThreads = 256;
    const bool lonely = kernel.threads * (site.shared_bytes / shared) < kEnoughThreads;
    const double cost = waves * (products + waits) * (1 + 16 * reads) * (lonely ? 1.2 : 1);
    if (best.kernel == nullptr || cost < least) {
      best = {&kernel, g, chunks, shared, resident};
      least = cost;
    }
  }
  return best;
}

WeightChoice choose_for_weights(const Site& site, ConvGeometry geometry, bool bias) {
  const int entry = site.x->entry_bytes();
  WeightChoice best;
  double least = 0;
  const bool whole = geometry.in_c * entry % 16 == 0 && geometry.out_c * entry % 16 == 0;
  for (const WeightKernel& kernel : weight_kernels(site.precision)) {
    ConvGeometry g = geometry;
    lay_tiles(g, kernel.pixels);
    if (kernel.has_columns()) {
      g = by_columns(g);
      if (!can_have_columns(site, kernel, g, bias)) continue;
    } else if (kernel.whole != whole || kernel.shared_bytes(g) > site.shared_bytes) {
      continue;
    }
    // Products, and what is read for them: channels that only fill up count in both.
    const double out = divide_up(g.out_c, kernel.out) * kernel.out,
                 in = divide_up(g.in_c, kernel.in) * kernel.in;
    const double cost = out * in * divide_up(g.taps, kernel.taps) * kernel.taps *
                        (1 + 8.0 / kernel.out + 8.0 / kernel.in / kernel.taps) * g.tiles *
                        kernel.pixels;
    if (best.kernel == nullptr || cost < least) {
      best = {&kernel, g, kernel.has_columns()};
      least = cost;
    }
  }
  if (best.kernel == nullptr || best.tma) return best;
  const ConvGeometry& chosen = best.geometry;
  best.tma = best.kernel->tma != nullptr && chosen.in_c % 16 == 0 &&
             std::max(chosen.patch_h, chosen.patch_w) <= kWidestBox &&
             can_use_tma(site, *best.kernel, chosen);
  return best;
}

}  // namespace hearsay::engine::cuda
