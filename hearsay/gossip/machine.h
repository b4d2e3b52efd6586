#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hearsay/backend/kernels.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/gossip/process_group.h"

namespace hearsay::gossip {

/// The setting `threads`: 0 means one per core of this process's share.
std::size_t thread_count(std::uint64_t wanted, double cores);

/// What executes the peers of a run, or of several runs side by side (run/fleet.h): host threads, a
/// device, and the process group.
///
/// A device may be rounds behind its host. The results of a round (losses, lengths of messages,
/// norms) are in result buffers of Kernels::results, which are filled later: to read them, register
/// a callback; `drain` waits for the device and runs all callbacks in order. Nothing else may call
/// Kernels::synchronize while callbacks are pending.
class Machine {
 public:
  using MakeKernels = std::function<std::unique_ptr<backend::Kernels>(ThreadPool&)>;

  /// A device by its spec ("cpu", "cuda:precision=bf16") and a number of threads (0: one per core
  /// of this process's share), for all peers of a run or for those of one process of the process
  /// group, which must outlive the machine. Throws InvalidArgument.
  Machine(std::string_view device, std::uint64_t threads);
  Machine(std::string_view device, std::uint64_t threads, ProcessGroup& group);
  Machine(std::size_t threads, const MakeKernels& make);

  ThreadPool& pool() { return pool_; }
  backend::Kernels& kernels() { return *kernels_; }
  ProcessGroup& group() { return group_; }

  /// Runs `callback`, which must not throw, once all work given to the kernels so far is complete.
  void after_synchronization(std::function<void()> callback) {
    callbacks_.push_back(std::move(callback));
  }

  /// Call after enqueuing a round: submits it to the device, and drains if the host is Kernels::lag
  /// rounds ahead.
  void end_round();

  /// Wait for the device, then run all callbacks in order.
  void drain();

 private:
  Machine(std::size_t threads, const MakeKernels& make, ProcessGroup* group);

  SingleProcess alone_;
  ProcessGroup& group_;
  ThreadPool pool_;
  std::unique_ptr<backend::Kernels> kernels_;
  std::vector<std::function<void()>> callbacks_;
  std::size_t ahead_ = 0;  ///< rounds since the last `drain`
};

}  // namespace hearsay::gossip
