#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "hearsay/backend/kernels.h"
#include "hearsay/core/registry.h"

namespace hearsay::backend {

/// How convolutions and matrix products are computed. Accumulation is in single precision
/// throughout, and so are models, optimizer state and all that is sent.
enum class Precision {
  kTf32,  ///< products of 11-bit significands (tensor cores), activations rounded to them
  kFp32,  ///< products of floats
  kBf16,  ///< products of 8-bit significands, activations stored as bfloat16
};

/// One row of the registry: what `--device` names.
using DeviceEntry = Row<std::unique_ptr<Kernels>(ThreadPool&)>;

Registry<DeviceEntry> device_registry();

/// make_kernels("cuda:precision=bf16", pool). Throws InvalidArgument if the spec is invalid, if
/// this build has no such backend, or if the machine has no such device.
std::unique_ptr<Kernels> make_kernels(std::string_view spec, ThreadPool& pool);

/// The GPU's kernels. Throws InvalidArgument with the reason if there is none (no_cuda.cpp where
/// nvcc was missing).
std::unique_ptr<Kernels> make_cuda_kernels(const Arguments& arguments, ThreadPool& pool);

}  // namespace hearsay::backend
