#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include "hearsay/backend/kernels.h"

namespace hearsay::engine {

/// The CPU's kernels with memory that the host must not touch: blocks have unmapped addresses, and
/// only copies and kernels know where their elements are.
class FarKernels : public backend::Kernels {
 public:
  /// `far` = 0 leaves the addresses unchanged, for kernels that differ in something else.
  explicit FarKernels(ThreadPool& pool, std::intptr_t far = std::intptr_t{1} << 62)
      : near_(backend::make_cpu_kernels(pool)), far_(far) {}

  std::string device() const override { return "far"; }
  std::string isa() const override { return near_->isa(); }
  bool on_host() const override { return far_ == 0; }

  void synchronize() override { near_->synchronize(); }

  void fill(float value, backend::Block y) override { near_->fill(value, near(y)); }
  void copy(backend::ConstBlock x, backend::Block y) override { near_->copy(near(x), near(y)); }
  void axpy(float a, backend::ConstBlock x, backend::Block y) override {
    near_->axpy(a, near(x), near(y));
  }
  void axpby(float a, backend::ConstBlock x, float b, backend::Block y) override {
    near_->axpby(a, near(x), b, near(y));
  }
  /// Overwritten, so that any later read is detected.
  void discard(backend::Block y) override {
    near_->fill(std::numeric_limits<float>::quiet_NaN(), near(y));
  }
  void clip_rows(double most, backend::Block y) override { near_->clip_rows(most, near(y)); }
  void divide_rows(backend::ConstBlock x, std::span<const double> u, backend::Block z) override {
    near_->divide_rows(near(x), u, near(z));
  }
  void adam(const AdamRates& rates, backend::Block m, backend::Block v, backend::Block g) override {
    near_->adam(rates, near(m), near(v), near(g));
  }
  void accumulate(float a, std::span<const backend::VectorView> q, backend::Block y) override {
    near_->accumulate(a, near(q), near(y));
  }
  void mean_rows(backend::Block x) override { near_->mean_rows(near(x)); }
  void sum_rows(backend::ConstBlock x, std::size_t begin, std::span<double> out) override {
    near_->sum_rows(near(x), begin, out);
  }
  double magnitude(std::span<const backend::VectorView> q, std::size_t dim) override {
    return near_->magnitude(near(q), dim);
  }
  void squared_norms(backend::ConstBlock x, std::span<double> out) override {
    near_->squared_norms(near(x), out);
  }

 protected:
  backend::Array::Memory allocate_bytes(std::size_t bytes) override {
    auto bytes_near = std::make_shared<backend::Array>(near_->allocate(1, bytes, ElementType::kU8));
    return {moved(bytes_near->as<std::uint8_t>().data, far_), [bytes_near](void*) {}};
  }
  void copy_to_host(const void* from, void* to, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(to, moved(static_cast<const char*>(from), -far_), bytes);
  }
  void copy_to_device(const void* from, void* to, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(moved(static_cast<char*>(to), -far_), from, bytes);
  }
  void* result_buffer(std::size_t count) override { return near_->results<double>(count).data(); }
  void mix_rows(const backend::Mixing& mixing, std::span<const backend::VectorView> q,
                backend::Block x) override {
    near_->mix(mixing, near(q), near(x));
  }
  void mix_rows_compensated(const backend::Mixing& mixing, std::span<const backend::VectorView> q,
                            float keep, backend::Block x, backend::Block low) override {
    near_->mix_compensated(mixing, near(q), keep, near(x), near(low));
  }

 private:
  template <class Float>
  static Float* moved(Float* data, std::intptr_t by) {
    return reinterpret_cast<Float*>(reinterpret_cast<std::intptr_t>(data) + by);
  }
  template <class Float>
  backend::BasicBlock<Float> near(backend::BasicBlock<Float> far) const {
    return {moved(far.data, -far_), far.rows, far.dim};
  }
  std::vector<backend::VectorView> near(std::span<const backend::VectorView> far) const {
    std::vector<backend::VectorView> views(far.begin(), far.end());
    for (backend::VectorView& view : views) {
      if (view.dense != nullptr) view.dense = moved(view.dense, -far_);
    }
    return views;
  }

  std::unique_ptr<backend::Kernels> near_;
  std::intptr_t far_;  ///< offset from the floats to the addresses of blocks
};

}  // namespace hearsay::engine
