#include "hearsay/live/slots.h"

#include <utility>

namespace hearsay::live {

Slots::Slots(std::size_t threads) {
  threads_.reserve(threads);
  try {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {  // without this, joining those that run would never end
    close();
    throw;
  }
}

Slots::~Slots() {
  close();
  threads_.clear();  // joins
}

void Slots::run(std::function<void()> job) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || (!job_ && idle_ > 0); });
    if (!closed_) job_ = std::exchange(job, nullptr);
  }
  changed_.notify_all();
  if (job) job();
}

void Slots::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

void Slots::work() {
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      ++idle_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return closed_ || job_; });
      --idle_;
      if (!job_) return;
      job = std::exchange(job_, nullptr);
    }
    changed_.notify_all();  // the next job can be handed over
    job();
  }
}

}  // namespace hearsay::live
