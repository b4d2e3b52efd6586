#pragma once

#include <cstddef>

#include <cuda.h>

#include "hearsay/core/element_type.h"
#include "hearsay/engine/cuda/conv/conv_geometry.h"

namespace hearsay::engine::cuda {

/// What a tensor map needs: how TMA (tma.cuh) finds boxes of a tensor of images in device memory,
/// its channels being the fastest index.
struct ImageBox {
  ElementType type;
  int images, height, width, channels;
  int box_images, box_height, box_width, box_bytes;  ///< box_bytes: of channels, in sixteens
  bool swizzled;  ///< as conv_tma.cuh reads it, rather than side by side; 32, 64 or 128 bytes
};
CUtensorMap make_image_map(const void* data, const ImageBox& box);

/// Boxes of a convolution's input that are the patches of its tiles, for all peers.
ImageBox patch_box(const ConvGeometry& geometry, std::size_t peers, ElementType type, int box_bytes,
                   bool swizzled);

/// The same of a geometry by columns: the entries of a row are its channels, the rows its columns,
/// and the images its rows. Their rows must be whole sixteens of bytes.
ImageBox row_box(const ConvGeometry& geometry, std::size_t peers, ElementType type);

}  // namespace hearsay::engine::cuda
