#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace hearsay {

/// A fixed set of worker threads for loops whose iterations are independent.
///
/// Determinism: an iteration must not depend on another, so results do not depend on the number of
/// threads. One loop at a time: `run` must not be called from two threads at once. An exception
/// thrown by an iteration is rethrown by the call (the one of the lowest index).
class ThreadPool {
 public:
  /// `threads` >= 1, including the calling thread; 1 starts none. Throws RunFailed.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();

  std::size_t threads() const;

  /// Call body(0) .. body(count - 1), each once, in any order, and return when all are done.
  /// Calls from inside a body run serially.
  void run(std::size_t count, const std::function<void(std::size_t)>& body);

  /// The same with at most `lanes` threads, each of which has a number below `lanes` of its own:
  /// body(lane, i). May also be called from inside a body of `run`: threads that have nothing else
  /// to do join in.
  void run(std::size_t lanes, std::size_t count,
           const std::function<void(std::size_t, std::size_t)>& body);

 private:
  struct Workers;
  std::unique_ptr<Workers> workers_;
};

}  // namespace hearsay
