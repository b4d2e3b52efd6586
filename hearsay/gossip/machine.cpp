#include "hearsay/gossip/machine.h"

#include <algorithm>

#include "hearsay/backend/device.h"

namespace hearsay::gossip {

namespace {

Machine::MakeKernels kernels_of(std::string_view device) {
  return [device = std::string(device)](ThreadPool& pool) {
    return backend::make_kernels(device, pool);
  };
}

}  // namespace

std::size_t thread_count(std::uint64_t wanted, double cores) {
  return wanted > 0 ? wanted : std::max<std::size_t>(1, static_cast<std::size_t>(cores + 0.01));
}

Machine::Machine(std::string_view device, std::uint64_t threads)
    : Machine(thread_count(threads, transport::Alone().seat().cores), kernels_of(device)) {}

Machine::Machine(std::string_view device, std::uint64_t threads, Crew& crew)
    : Machine(thread_count(threads, crew.cores()), kernels_of(device), &crew) {}

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

}  // namespace hearsay::gossip
