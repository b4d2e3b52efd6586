#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hearsay/backend/kernels.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/gossip/crew.h"

namespace hearsay::gossip {

/// The setting `threads`: 0 is one a core of this process's share.
std::size_t thread_count(std::uint64_t wanted, double cores);

/// Where the peers of a run live, or those of several side by side (fleet.h): threads of the host,
/// a device and what it still has to tell, and the other processes of the run.
///
/// A device may be rounds behind its host. What a round tells (losses, lengths of messages, norms)
/// is room from Kernels::results that fills up later, so whoever wants to know it leaves a note,
/// and all notes are settled at once. Nobody else calls Kernels::synchronize while there are notes.
class Machine {
 public:
  using MakeKernels = std::function<std::unique_ptr<backend::Kernels>(ThreadPool&)>;

  /// A device by its spec ("cpu", "cuda:precision=bf16") and a number of threads (0: one per core
  /// of this process's share), for all peers of a run or for those of one process of the crew,
  /// which must outlive the machine. Throws InvalidArgument.
  Machine(std::string_view device, std::uint64_t threads);
  Machine(std::string_view device, std::uint64_t threads, Crew& crew);
  Machine(std::size_t threads, const MakeKernels& make);

  ThreadPool& pool() { return pool_; }
  backend::Kernels& kernels() { return *kernels_; }
  Crew& crew() { return crew_; }

  /// Calls `account`, which must not throw, as soon as all that the kernels were asked for until
  /// now has happened.
  void note(std::function<void()> account) { notes_.push_back(std::move(account)); }

  /// A round has been asked for: let the device begin, and settle if it is as far behind as it may.
  void end_round();

  /// Wait for the device, and call all that was noted, in order.
  void settle();

 private:
  Machine(std::size_t threads, const MakeKernels& make, Crew* crew);

  LoneCrew alone_;
  Crew& crew_;
  ThreadPool pool_;
  std::unique_ptr<backend::Kernels> kernels_;
  std::vector<std::function<void()>> notes_;
  std::size_t ahead_ = 0;  ///< rounds since the last settlement
};

}  // namespace hearsay::gossip
