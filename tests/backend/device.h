#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "hearsay/backend/cuda/devices.h"
#include "hearsay/backend/device.h"
#include "hearsay/core/thread_pool.h"

namespace hearsay::backend {

/// The kernels of a device, or null if the machine has none (never for the CPU). A GPU that is
/// present but unusable is a failure, not a reason to skip.
inline std::unique_ptr<Kernels> kernels_if_any(const std::string& device, ThreadPool& pool) {
  if (device != "cpu" && cuda::device_count() == 0) return nullptr;
  return make_kernels(device, pool);
}

/// Indices on the device.
inline Array upload_indices(Kernels& kernels, const std::vector<std::uint32_t>& indices) {
  Array array = kernels.allocate(1, indices.size(), ElementType::kU32);
  kernels.upload(indices, array.as<std::uint32_t>(), 0);
  return array;
}

template <class T>
std::vector<std::remove_const_t<T>> download(Kernels& kernels, std::span<T> from) {
  std::vector<std::remove_const_t<T>> to(from.size());
  kernels.download({from.data(), 1, from.size()}, 0, to);
  return to;
}

}  // namespace hearsay::backend
