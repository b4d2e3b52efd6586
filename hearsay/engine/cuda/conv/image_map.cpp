#include "hearsay/engine/cuda/conv/image_map.h"

#include <string>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "hearsay/backend/cuda/launch_recorder.h"
#include "hearsay/core/error.h"

namespace hearsay::engine::cuda {

namespace {

/// The driver's function, asked for at run time: programs start where there is no driver.
decltype(&cuTensorMapEncodeTiled) encoder() {
  constexpr unsigned kSince = 12000;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  backend::cuda::check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, kSince,
                                                        cudaEnableDefault, &found),
                       "asking the driver for tensor maps");
  if (function == nullptr) {
    throw RunFailed("[cuda] the driver cannot make tensor maps; it must be of CUDA 12 or later");
  }
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

CUtensorMapDataType data_type(ElementType type) {
  switch (type) {
    case ElementType::kF32:
    case ElementType::kTf32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case ElementType::kBf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    default:
      throw InvalidArgument("[cuda] no tensor map for " + std::string(name_of(type)));
  }
}

}  // namespace

CUtensorMap make_image_map(const void* data, const ImageBox& box) {
  static const auto encode = encoder();
  const cuuint64_t entry = size_of(box.type);
  const auto channels = static_cast<cuuint64_t>(box.channels);
  const auto width = static_cast<cuuint64_t>(box.width),
             height = static_cast<cuuint64_t>(box.height);
  const cuuint64_t sizes[] = {channels, width, height, static_cast<cuuint64_t>(box.images)};
  const cuuint64_t strides[] = {channels * entry, channels * width * entry,
                                channels * width * height * entry};
  const cuuint32_t part[] = {
      static_cast<cuuint32_t>(static_cast<cuuint64_t>(box.box_bytes) / entry),
      static_cast<cuuint32_t>(box.box_width), static_cast<cuuint32_t>(box.box_height),
      static_cast<cuuint32_t>(box.box_images)};
  const cuuint32_t steps[] = {1, 1, 1, 1};
  const CUtensorMapSwizzle swizzle = !box.swizzled          ? CU_TENSOR_MAP_SWIZZLE_NONE
                                     : box.box_bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : box.box_bytes == 64  ? CU_TENSOR_MAP_SWIZZLE_64B
                                                            : CU_TENSOR_MAP_SWIZZLE_32B;
  CUtensorMap map{};
  const CUresult status =
      encode(&map, data_type(box.type), 4, const_cast<void*>(data), sizes, strides, part, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    throw RunFailed(fmt::format(
        "[cuda] the driver refused a map of {} x {} x {} x {} images in boxes of {} x {} x {} x {} "
        "bytes (error {})",
        box.images, box.height, box.width, box.channels, box.box_images, box.box_height,
        box.box_width, box.box_bytes, static_cast<int>(status)));
  }
  return map;
}

ImageBox patch_box(const ConvGeometry& geometry, std::size_t peers, ElementType type, int box_bytes,
                   bool swizzled) {
  return {.type = type,
          .images = geometry.images * static_cast<int>(peers),
          .height = geometry.in_h,
          .width = geometry.in_w,
          .channels = geometry.in_c,
          .box_images = geometry.tile_i,
          .box_height = geometry.patch_h,
          .box_width = geometry.patch_w,
          .box_bytes = box_bytes,
          .swizzled = swizzled};
}

ImageBox row_box(const ConvGeometry& geometry, std::size_t peers, ElementType type) {
  return {.type = type,
          .images = 1,
          .height = geometry.images * static_cast<int>(peers),
          .width = geometry.in_h,
          .channels = geometry.in_w * channels_of_columns(geometry),
          .box_images = 1,
          .box_height = geometry.tile_i,
          .box_width = geometry.patch_h,
          .box_bytes = patch_row_bytes(geometry, static_cast<int>(size_of(type))),
          .swizzled = false};
}

}  // namespace hearsay::engine::cuda
