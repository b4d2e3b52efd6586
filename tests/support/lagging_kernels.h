#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <vector>

#include "engine/far_kernels.h"

namespace hearsay::support {

/// The CPU's kernels, behaving like a device that is three rounds behind: norms are in their result
/// buffers only after `synchronize`, and the first buffer requested after that invalidates all
/// others.
class LaggingKernels : public engine::FarKernels {
 public:
  explicit LaggingKernels(ThreadPool& pool) : FarKernels(pool, 0) {}

  std::size_t lag() const override { return 3; }
  std::size_t waits() const { return waits_; }  ///< calls of synchronize

  void synchronize() override {
    ++waits_;
    for (const auto& write : late_) write();
    late_.clear();
    synchronized_ = true;
  }

  void squared_norms(backend::ConstBlock x, std::span<double> out) override {
    std::vector<double> norms(out.size());
    FarKernels::squared_norms(x, norms);
    late_.push_back([norms, out] { std::ranges::copy(norms, out.begin()); });
  }

 protected:
  void* result_buffer(std::size_t count) override {
    constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
    if (synchronized_) {
      for (std::vector<double>& buffer : buffers_) std::ranges::fill(buffer, kNothing);
      spoiled_.swap(buffers_);  // kept allocated: a stale read finds NaN
      buffers_.clear();
      synchronized_ = false;
    }
    return buffers_.emplace_back(count, kNothing).data();
  }

 private:
  std::deque<std::vector<double>> buffers_, spoiled_;
  std::vector<std::function<void()>> late_;
  bool synchronized_ = false;
  std::size_t waits_ = 0;
};

}  // namespace hearsay::support
