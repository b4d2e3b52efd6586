#include "hearsay/engine/cuda/conv/conv_tables.cuh"

namespace hearsay::engine::cuda {

std::span<const ConvKernel> conv_kernels_bf16() { return kConvKernels<Bf16>; }
std::span<const WeightKernel> weight_kernels_bf16() { return kWeightKernels<Bf16>; }

}  // namespace hearsay::engine::cuda
