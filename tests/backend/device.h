#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hearsay/backend/cuda/devices.h"
#include "hearsay/backend/device.h"
#include "hearsay/core/thread_pool.h"

namespace hearsay::backend {

/// The kernels of a device, or null where the machine has none; a CPU is everywhere. A GPU that is
/// there but cannot be used is a failure, not a reason to skip.
inline std::unique_ptr<Kernels> kernels_if_any(const std::string& device, ThreadPool& pool) {
  if (device != "cpu" && cuda::device_count() == 0) return nullptr;
  return make_kernels(device, pool);
}

/// Words on the device, stored as the bits of floats.
inline Array upload_words(Kernels& kernels, const std::vector<std::uint32_t>& words) {
  std::vector<float> bits(words.size());
  if (!words.empty()) std::memcpy(bits.data(), words.data(), sizeof(float) * words.size());
  Array array = kernels.allocate(1, words.size());
  kernels.upload(bits, array, 0);
  return array;
}

inline std::span<const std::uint32_t> words_of(const Array& array) {
  return {reinterpret_cast<const std::uint32_t*>(array.block().data), array.block().dim};
}

inline std::vector<float> download(Kernels& kernels, std::span<const float> from) {
  std::vector<float> to(from.size());
  kernels.download({from.data(), 1, from.size()}, 0, to);
  return to;
}

inline std::vector<std::uint32_t> download(Kernels& kernels, std::span<const std::uint32_t> from) {
  const std::vector<float> bits =
      download(kernels, std::span(reinterpret_cast<const float*>(from.data()), from.size()));
  std::vector<std::uint32_t> to(from.size());
  if (!to.empty()) std::memcpy(to.data(), bits.data(), sizeof(float) * to.size());
  return to;
}

}  // namespace hearsay::backend
