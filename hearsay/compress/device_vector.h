#pragma once

#include "hearsay/backend/kernels.h"
#include "hearsay/compress/compressor.h"

namespace hearsay::compress {

/// A decoded vector where kernels can read it: the host's own memory, or a copy on the device,
/// whose memory is reused for the next vector.
class DeviceVector {
 public:
  Decoded decoded;  ///< to be filled by the owner

  /// Valid until the next call, and while `decoded` is unchanged.
  backend::VectorView place(backend::Kernels& kernels) {
    if (kernels.on_host()) return decoded.view();
    if (!decoded.sparse) return {copy(kernels, decoded.dense, values_).data()};
    const std::span<const std::uint32_t> index = copy(kernels, decoded.index, index_);
    return {nullptr, index, copy(kernels, decoded.value, values_)};
  }

 private:
  template <class T>
  static std::span<const T> copy(backend::Kernels& kernels, const std::vector<T>& from,
                                 backend::Array& to) {
    if (to.empty() || to.as<T>().dim < from.size()) {
      to = kernels.allocate(1, from.size(), kElementTypeOf<T>);
    }
    kernels.upload(from, to.as<T>(), 0);
    return {to.as<T>().data, from.size()};
  }

  backend::Array values_, index_;
};

}  // namespace hearsay::compress
