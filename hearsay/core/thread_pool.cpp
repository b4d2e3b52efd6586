#include "hearsay/core/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay {

namespace {
thread_local bool inside_a_loop = false;
}

struct ThreadPool::Workers {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  const std::function<void(std::size_t)>* body = nullptr;
  std::size_t count = 0;
  std::atomic<std::size_t> next{0};
  std::size_t generation = 0;
  std::size_t busy = 0;
  std::size_t failed_index = 0;
  std::exception_ptr failure;
  bool stop = false;
  std::vector<std::thread> threads;

  void drain() {
    inside_a_loop = true;
    for (;;) {
      const std::size_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) break;
      try {
        (*body)(index);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure || index < failed_index) {
          failure = std::current_exception();
          failed_index = index;
        }
      }
    }
    inside_a_loop = false;
  }

  void join() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    wake.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  void work() {
    std::size_t seen = 0;
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return stop || generation != seen; });
      if (stop) return;
      seen = generation;
      lock.unlock();
      drain();
      lock.lock();
      if (--busy == 0) done.notify_one();
    }
  }
};

ThreadPool::ThreadPool(std::size_t threads) : workers_(std::make_unique<Workers>()) {
  try {
    for (std::size_t i = 1; i < threads; ++i) {
      workers_->threads.emplace_back([this] { workers_->work(); });
    }
  } catch (const std::system_error& error) {
    const std::size_t started = this->threads();
    workers_->join();
    throw RunFailed(fmt::format("[threads] the system gave {} of {} threads: {}; ask for fewer",
                                started, threads, error.what()));
  }
}

ThreadPool::~ThreadPool() { workers_->join(); }

std::size_t ThreadPool::threads() const { return workers_->threads.size() + 1; }

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& body) {
  if (count <= 1 || workers_->threads.empty() || inside_a_loop) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  Workers& w = *workers_;
  {
    const std::lock_guard lock(w.mutex);
    w.body = &body;
    w.count = count;
    w.next.store(0, std::memory_order_relaxed);
    w.failure = nullptr;
    w.busy = w.threads.size();
    ++w.generation;
  }
  w.wake.notify_all();
  w.drain();
  std::unique_lock lock(w.mutex);
  w.done.wait(lock, [&] { return w.busy == 0; });
  if (w.failure) std::rethrow_exception(w.failure);
}

}  // namespace hearsay
