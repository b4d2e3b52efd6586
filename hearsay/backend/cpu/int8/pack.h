#pragma once

#include <cstddef>
#include <cstdint>

/// Rearrangements of bytes into the operands of `multiply` (product.h). Sizes are multiples of 16.
namespace hearsay::backend::cpu {

/// planes[c * pitch + p] = x[p * channels + c]: from all channels of a pixel to all pixels of a
/// channel.
void to_planes(const std::int8_t* x, std::size_t pixels, std::size_t channels, std::size_t pitch,
               std::int8_t* planes);

/// b[quad_place(p, c, columns)] = x[p * channels + c] for c < channels <= columns: pixels are the
/// terms of a sum. `b` begins at the first of the columns to be written.
void to_quads(const std::int8_t* x, std::size_t pixels, std::size_t channels, std::size_t columns,
              std::int8_t* b);

}  // namespace hearsay::backend::cpu
