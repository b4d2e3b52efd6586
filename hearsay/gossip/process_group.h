#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "hearsay/algorithm/exchange.h"
#include "hearsay/transport/alone.h"
#include "hearsay/transport/collective.h"

namespace hearsay::gossip {

/// The processes of a run, as seen by one of them; a simulation has one process.
///
/// A process group lives as long as its transport and may serve several runs, one after another.
/// All processes call the same members in the same order.
class ProcessGroup {
 public:
  /// The transport must outlive the process group. `idle` is called ten times per second while this
  /// process waits for another one.
  explicit ProcessGroup(transport::Transport& transport, transport::Idle idle = {});

  std::size_t rank() const { return collectives_.seat().process; }
  std::size_t processes() const { return collectives_.seat().processes; }
  double cores() const {
    return collectives_.seat().cores;
  }  ///< this process's share of its host's
  bool alone() const { return processes() == 1; }
  bool leads() const { return rank() == 0; }  ///< writes the run's files and prints

  transport::Transport& transport() { return transport_; }
  transport::Group& collectives() { return collectives_; }
  const transport::Idle& idle() const { return idle_; }

  /// The label of the next gossip round. Counts across runs: a transport's rounds never restart.
  transport::Label next_gossip() { return {transport::Lane::kGossip, gossips_++}; }

  /// Calls `body` in every process; if it throws in any, all processes throw the exception of the
  /// lowest such rank, prefixed with that rank if it is not 0.
  void agree(const std::function<void()>& body);

  /// Calls `body` in rank 0 only and returns its result in every process; exceptions as in `agree`.
  Bytes ask_process_0(const std::function<Bytes()>& body);

  /// Throws InvalidArgument in all processes if `text` differs between them: "[transport] process 2
  /// has another `what` than process 0".
  void agree_on(std::string_view what, std::string_view text);

  /// Whether `mine` is true in any process.
  bool any(bool mine);

  /// Whether all processes threw together, in `agree` or `agree_on`: no process waits for another
  /// one.
  bool has_failed_together() const { return failed_together_; }

 private:
  transport::Transport& transport_;
  transport::Idle idle_;
  transport::Group collectives_;
  std::uint32_t gossips_ = 0;
  bool failed_together_ = false;
};

/// The process group of a run whose peers are all in this process.
class SingleProcess {
 public:
  operator ProcessGroup&() { return group_; }

 private:
  transport::Alone nobody_;
  ProcessGroup group_{nobody_};
};

/// Averages over the peers of all processes. Summed in peer order, bit-identical to a single
/// process; with a transport that has a fast sum (mpi:allreduce=fast), in that sum's order.
class GroupCollective final : public algorithm::Collective {
 public:
  GroupCollective(ProcessGroup& group, const transport::Placement& placement,
                  backend::Kernels& kernels)
      : group_(group), placement_(placement), kernels_(kernels) {}

  void mean(backend::Block rows) override;
  double mean(std::span<const double> values) override;

  double seconds_waited() const { return waited_; }  ///< total, in both

 private:
  ProcessGroup& group_;
  const transport::Placement& placement_;
  backend::Kernels& kernels_;
  std::vector<float> mean_;
  double waited_ = 0;
  bool is_fast_ = true;  ///< until the transport reports that it has no fast sum
};

}  // namespace hearsay::gossip
