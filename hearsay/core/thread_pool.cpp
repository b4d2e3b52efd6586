#include "hearsay/core/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay {

namespace {

/// How often a thread looks for work, or for the end of it, before it sleeps: some 100 us. The
/// loops of a network's step follow each other faster than a sleeping thread wakes up.
constexpr int kLooks = 5000, kLooksPerYield = 100;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Between two looks, the `looks`th of which comes.
void pause_before(int looks) { looks % kLooksPerYield == 0 ? std::this_thread::yield() : pause(); }

/// A loop that threads may join while it has tickets. Every lane begins with a range of its own, so
/// that successive loops over the same data leave it in the caches where it is; then it helps the
/// others.
class Loop {
 public:
  using Body = std::function<void(std::size_t, std::size_t)>;

  explicit Loop(std::size_t threads) : ranges_(threads) {}

  void open(std::size_t lanes, std::size_t count, const Body& body) {
    body_ = &body;
    lanes_ = lanes;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      ranges_[lane].next.store(lane * count / lanes, std::memory_order_relaxed);
      ranges_[lane].end = (lane + 1) * count / lanes;
    }
    failure_ = nullptr;
    state_.store(static_cast<std::uint32_t>(lanes - 1) * kTicket, std::memory_order_release);
  }

  /// Joins if there is a ticket, and runs iterations until none is left.
  bool help() {
    std::uint32_t state = state_.load(std::memory_order_relaxed);
    do {
      if (state < kTicket) return false;
    } while (!state_.compare_exchange_weak(state, state - kTicket + 1, std::memory_order_acquire,
                                           std::memory_order_relaxed));
    drain(lanes_ - state / kTicket);
    if (state_.fetch_sub(1, std::memory_order_acq_rel) % kTicket == 1) state_.notify_all();
    return true;
  }

  /// Runs iterations until none is left to begin; nobody joins afterwards.
  void drain(std::size_t lane) {
    for (std::size_t k = 0; k < lanes_; ++k) {
      Range& range = ranges_[(lane + k) % lanes_];
      for (;;) {
        const std::size_t index = range.next.fetch_add(1, std::memory_order_relaxed);
        if (index >= range.end) break;
        run_one(lane, index);
      }
    }
    state_.fetch_and(kTicket - 1, std::memory_order_relaxed);
  }

  /// Waits, after drain, for those who have joined. `meanwhile` returns whether it did something.
  template <class Meanwhile>
  void finish(const Meanwhile& meanwhile) {
    int looks = 0;
    for (;;) {
      const std::uint32_t state = state_.load(std::memory_order_acquire);
      if (state == 0) break;
      if (meanwhile()) {
        looks = 0;
      } else if (++looks < kLooks) {
        pause_before(looks);
      } else {
        state_.wait(state, std::memory_order_acquire);
      }
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static constexpr std::uint32_t kTicket = 1u << 16;

  struct alignas(64) Range {
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };

  void run_one(std::size_t lane, std::size_t index) {
    try {
      (*body_)(lane, index);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_ || index < failed_index_) {
        failure_ = std::current_exception();
        failed_index_ = index;
      }
    }
  }

  std::atomic<std::uint32_t> state_{0};  ///< tickets left, and below them the threads inside
  const Body* body_ = nullptr;
  std::size_t lanes_ = 0;
  std::vector<Range> ranges_;  ///< by lane
  std::mutex mutex_;           ///< guards the failure
  std::size_t failed_index_ = 0;
  std::exception_ptr failure_;
};

/// Whether this thread is inside a body, and of which pool.
struct Inside {
  const void* pool = nullptr;
  std::size_t thread = 0;  ///< of the pool
  int depth = 0;
};
thread_local Inside inside;

}  // namespace

struct ThreadPool::Workers {
  explicit Workers(std::size_t count) : outer(count) {
    for (std::size_t i = 0; i < count; ++i) nested.emplace_back(count);
  }

  std::atomic<std::uint32_t> generation{0};  ///< changes when a loop is opened
  std::atomic<bool> stop{false};
  Loop outer;
  std::deque<Loop> nested;  ///< by the thread that opened it
  std::vector<std::thread> threads;

  void announce() {
    generation.fetch_add(1);
    generation.notify_all();
  }

  /// Sets `inside` for the duration of a loop.
  class Enter {
   public:
    Enter(const Workers* pool, std::size_t thread) : before_(inside) {
      inside = {pool, thread, before_.depth + 1};
    }
    ~Enter() { inside = before_; }
    Enter(const Enter&) = delete;
    Enter& operator=(const Enter&) = delete;

   private:
    Inside before_;
  };

  bool help_nested(std::size_t thread) {
    const Enter body(this, thread);
    const Enter nested_body(this, thread);
    return std::ranges::any_of(nested, [](Loop& loop) { return loop.help(); });
  }
  bool help(std::size_t thread) {
    {
      const Enter body(this, thread);
      if (outer.help()) return true;
    }
    return help_nested(thread);
  }

  void join() {
    stop = true;
    announce();
    for (std::thread& thread : threads) thread.join();
  }

  void work(std::size_t thread) {
    for (;;) {
      const std::uint32_t seen = generation;
      if (stop) return;
      if (help(thread)) continue;
      int looks = 0;
      while (generation == seen && ++looks < kLooks) pause_before(looks);
      if (generation == seen) generation.wait(seen);
    }
  }

  void run(Loop& loop, std::size_t lanes, std::size_t count, const Loop::Body& body) {
    const bool outermost = inside.depth == 0;
    const std::size_t thread = outermost ? 0 : inside.thread;
    loop.open(std::min(lanes, threads.size() + 1), count, body);
    announce();
    {
      const Enter own(this, thread);
      loop.drain(0);
    }
    loop.finish([&] { return outermost && help_nested(thread); });
  }
};

ThreadPool::ThreadPool(std::size_t threads) : workers_(std::make_unique<Workers>(threads)) {
  try {
    for (std::size_t i = 1; i < threads; ++i) {
      workers_->threads.emplace_back([this, i] { workers_->work(i); });
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
  Workers& w = *workers_;
  if (count <= 1 || w.threads.empty() || inside.depth > 0) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  w.run(w.outer, count, count, [&](std::size_t, std::size_t i) { body(i); });
}

void ThreadPool::run(std::size_t lanes, std::size_t count,
                     const std::function<void(std::size_t, std::size_t)>& body) {
  Workers& w = *workers_;
  const bool serial = std::min(lanes, count) <= 1 || w.threads.empty() || inside.depth > 1 ||
                      (inside.depth == 1 && inside.pool != &w);
  if (serial) {
    for (std::size_t i = 0; i < count; ++i) body(0, i);
    return;
  }
  w.run(inside.depth == 0 ? w.outer : w.nested[inside.thread], std::min(lanes, count), count, body);
}

}  // namespace hearsay
