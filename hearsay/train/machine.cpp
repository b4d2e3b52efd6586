#include "hearsay/train/machine.h"

#include <sched.h>

#include <algorithm>
#include <thread>

#include "hearsay/backend/device.h"

namespace hearsay::train {

namespace {

Machine::MakeKernels kernels_of(const Config& config) {
  return [device = config.text("device")](ThreadPool& pool) {
    return backend::make_kernels(device, pool);
  };
}

}  // namespace

std::size_t thread_count(std::uint64_t wanted, std::size_t processes_here) {
  if (wanted > 0) return wanted;
  const std::size_t all = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t own;
  const bool known = sched_getaffinity(0, sizeof own, &own) == 0;
  const std::size_t allowed = known ? static_cast<std::size_t>(CPU_COUNT(&own)) : all;
  if (allowed < all) return std::max<std::size_t>(1, allowed);  // bound, as its neighbours are
  return std::max<std::size_t>(1, all / processes_here);
}

Machine::Machine(const Config& config)
    : Machine(thread_count(config.count("threads")), kernels_of(config)) {}

Machine::Machine(const Config& config, Crew& crew)
    : Machine(thread_count(config.count("threads"), crew.processes_here()), kernels_of(config),
              &crew) {}

Machine::Machine(std::size_t threads, const MakeKernels& make) : Machine(threads, make, nullptr) {}

Machine::Machine(std::size_t threads, const MakeKernels& make, Crew* crew)
    : crew_(crew == nullptr ? static_cast<Crew&>(alone_) : *crew),
      pool_(threads),
      kernels_(make(pool_)) {}

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
