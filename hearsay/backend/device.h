#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hearsay/backend/kernels.h"
#include "hearsay/core/registry.h"

namespace hearsay::backend {

/// One row of the registry: what `--device` names.
using DeviceEntry = Row<std::unique_ptr<Kernels>(ThreadPool&)>;

Registry<DeviceEntry> device_registry();

/// The device's spec with another precision in place of its own. Throws InvalidArgument if the
/// device does not have it.
std::string with_precision(std::string_view device, std::string_view precision);

/// Whether a device may have a precision of this name.
bool is_precision(std::string_view name);

/// make_kernels("cuda:precision=bf16", pool). Throws InvalidArgument if the spec is invalid, if
/// this build has no such backend, or if the machine has no such device.
std::unique_ptr<Kernels> make_kernels(std::string_view spec, ThreadPool& pool);

/// The GPU's kernels. Throws InvalidArgument with the reason if there is none (no_cuda.cpp where
/// nvcc was missing).
std::unique_ptr<Kernels> make_cuda_kernels(const Arguments& arguments, ThreadPool& pool);

}  // namespace hearsay::backend
