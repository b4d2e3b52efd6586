#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hearsay::live {

/// A fixed set of threads for connections. `run` blocks until a thread is free, so no more
/// connections are accepted than are served, and the descriptors of the process are bounded.
class Slots {
 public:
  explicit Slots(std::size_t threads);
  ~Slots();  ///< closes, and waits for running jobs

  /// Hands over a job. After `close` the caller runs it.
  void run(std::function<void()> job);

  /// From now on `run` does not wait for a free thread.
  void close();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;  ///< that waits for a thread
  std::size_t idle_ = 0;
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace hearsay::live
