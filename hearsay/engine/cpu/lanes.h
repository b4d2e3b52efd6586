#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>

#include "hearsay/core/thread_pool.h"
#include "hearsay/engine/cpu/one_thread.h"
#include "hearsay/engine/cpu/tensor.h"

namespace hearsay::engine::cpu {

/// A batch in chunks of `each` samples, the last of which may have fewer. What is summed over the
/// batch is summed chunk by chunk, so the chunks are a function of batch and network alone.
struct Chunks {
  std::size_t samples = 1, each = 1;

  std::size_t count() const { return (samples + each - 1) / each; }
  std::size_t first(std::size_t k) const { return k * each; }
  std::size_t size(std::size_t k) const { return std::min(each, samples - k * each); }
};

/// The threads that compute a program: the loops of its steps are spread over them. Results do not
/// depend on their number.
class Lanes {
 public:
  Lanes() = default;  ///< the calling thread alone
  Lanes(ThreadPool& pool, std::size_t count) : pool_(&pool), count_(count) {}

  std::size_t count() const { return count_; }

  /// Calls body(lane, i) for every i below `tasks`; those at the same time have different lanes.
  template <class Body>
  void run(std::size_t tasks, const Body& body) const {
    if (count_ == 1 || tasks <= 1) {
      for (std::size_t i = 0; i < tasks; ++i) body(std::size_t{0}, i);
      return;
    }
    const auto alone = [&](std::size_t lane, std::size_t i) {
      const OneThread one_thread;
      body(lane, i);
    };
    pool_->run(count_, tasks, std::cref(alone));
  }

  /// A batch in parts that are worth a call, where every sample is work for that many entries. Only
  /// for what is computed sample by sample: unlike chunks, they depend on the threads.
  Chunks parts(std::size_t samples, std::size_t entries) const {
    constexpr std::size_t kLeast = 8192;
    const std::size_t most = count_ == 1 ? 1 : std::min(samples, samples * entries / kLeast);
    const std::size_t parts = std::bit_floor(std::max<std::size_t>(most, 1));
    return {samples, (samples + parts - 1) / parts};
  }

  /// Calls body(first, count) for such parts.
  template <class Body>
  void for_samples(std::size_t samples, std::size_t entries, const Body& body) const {
    const Chunks of = parts(samples, entries);
    run(of.count(), [&](std::size_t, std::size_t k) { body(of.first(k), of.size(k)); });
  }

 private:
  ThreadPool* pool_ = nullptr;
  std::size_t count_ = 1;
};

/// The whole gradient of a tensor.
inline float* collect(const Lanes& lanes, Tensor& t) {
  if (const float* more = t.take_second_gradient()) {
    const std::size_t each = t.tiles.sample_size();
    lanes.for_samples(t.tiles.samples, each, [&](std::size_t first, std::size_t count) {
      backend::cpu::axpy(1.0f, more + first * each, t.gradient + first * each, count * each);
    });
  }
  return t.gradient;
}

}  // namespace hearsay::engine::cpu
