#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "hearsay/backend/cuda/launch_recorder.h"

namespace hearsay::backend::cuda {

/// Owned device memory for `size` values of T. Zeros at first.
template <class T>
class Memory {
 public:
  Memory() = default;
  explicit Memory(std::size_t size) : size_(size) {
    if (size == 0) return;
    void* data = nullptr;
    check(cudaMalloc(&data, size * sizeof(T)), "allocating device memory");
    data_.reset(static_cast<T*>(data));
    check(cudaMemset(data, 0, size * sizeof(T)), "clearing device memory");
    finish();
  }
  explicit Memory(std::span<const T> values) : Memory(values.size()) {
    if (size_ == 0) return;
    check(cudaMemcpy(data_.get(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice),
          "copying to the device");
    finish();
  }

  T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

  /// The memory, which the caller frees with cudaFree.
  T* release() {
    size_ = 0;
    return data_.release();
  }

 private:
  /// The launch recorder's streams do not wait for the default one, which set the values above.
  static void finish() { check(cudaStreamSynchronize(nullptr), "filling device memory"); }

  struct Free {
    void operator()(T* data) const { cudaFree(data); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace hearsay::backend::cuda
