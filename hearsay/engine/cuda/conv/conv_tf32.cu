#include "hearsay/engine/cuda/conv/conv_tables.cuh"

namespace hearsay::engine::cuda {

std::span<const ConvKernel> conv_kernels_tf32() { return kConvKernels<Tf32>; }
std::span<const WeightKernel> weight_kernels_tf32() { return kWeightKernels<Tf32>; }

}  // namespace hearsay::engine::cuda
