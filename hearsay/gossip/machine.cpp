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

Machine::Machine(std::string_view device, std::uint64_t threads, ProcessGroup& group)
    : Machine(thread_count(threads, group.cores()), kernels_of(device), &group) {}

Machine::Machine(std::size_t threads, const MakeKernels& make) : Machine(threads, make, nullptr) {}

Machine::Machine(std::size_t threads, const MakeKernels& make, ProcessGroup* group)
    : group_(group == nullptr ? static_cast<ProcessGroup&>(alone_) : *group),
      pool_(threads),
      kernels_(make(pool_)) {}

void Machine::end_round() {
  kernels_->submit();
  if (++ahead_ >= kernels_->lag()) drain();
}

void Machine::drain() {
  kernels_->synchronize();
  ahead_ = 0;
  std::vector<std::function<void()>> callbacks;
  callbacks.swap(callbacks_);
  for (const auto& callback : callbacks) callback();
}

}  // namespace hearsay::gossip
