#include "hearsay/train/machine.h"

#include <algorithm>

#include "hearsay/backend/device.h"

namespace hearsay::train {

namespace {

Machine::MakeKernels kernels_of(const Config& config) {
  return [device = config.text("device")](ThreadPool& pool) {
    return backend::make_kernels(device, pool);
  };
}

}  // namespace

std::size_t thread_count(std::uint64_t wanted, double cores) {
  return wanted > 0 ? wanted : std::max<std::size_t>(1, static_cast<std::size_t>(cores + 0.01));
}

Machine::Machine(const Config& config)
    : Machine(thread_count(config.count("threads"), transport::Alone().seat().cores),
              kernels_of(config)) {}

Machine::Machine(const Config& config, Crew& crew)
    : Machine(thread_count(config.count("threads"), crew.cores()), kernels_of(config), &crew) {}

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
