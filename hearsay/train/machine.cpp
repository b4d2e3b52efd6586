#include "hearsay/train/machine.h"

#include <algorithm>
#include <thread>

#include "hearsay/backend/device.h"

namespace hearsay::train {

std::size_t thread_count(std::uint64_t wanted) {
  return wanted > 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

Machine::Machine(const Config& config)
    : Machine(thread_count(config.count("threads")), [&](ThreadPool& pool) {
        return backend::make_kernels(config.text("device"), pool);
      }) {}

Machine::Machine(std::size_t threads, const MakeKernels& make)
    : pool_(threads), kernels_(make(pool_)) {}

void Machine::end_round() {
  kernels_->submit();
  if (++ahead_ >= kernels_->lag()) settle();
}

void Machine::settle() {
  kernels_->synchronize();
  ahead_ = 0;
  std::vector<std::function<void()>> notes;
  notes.swap(notes_);
  for (const auto& account : notes) account();
}

}  // namespace hearsay::train
