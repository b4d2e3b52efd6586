#include "hearsay/engine/cuda/conv/conv_tables.cuh"

namespace hearsay::engine::cuda {

std::span<const ConvKernel> conv_kernels_fp32() { return kConvKernels<Fp32>; }
std::span<const WeightKernel> weight_kernels_fp32() { return kWeightKernels<Fp32>; }

}  // namespace hearsay::engine::cuda
