#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "hearsay/algorithm/exchange.h"
#include "hearsay/transport/alone.h"
#include "hearsay/transport/collective.h"

namespace hearsay::gossip {

/// The processes that run something together, as one of them sees them: a simulation's is one.
///
/// One process group lasts as long as its transport, whatever runs follow each other on it. All
/// processes call the same members in the same order.
class ProcessGroup {
 public:
  /// The transport must outlive the process group. `idle` is called ten times a second while this
  /// process waits for another one.
  explicit ProcessGroup(transport::Transport& transport, transport::Idle idle = {});

  std::size_t rank() const { return collectives_.seat().process; }
  std::size_t processes() const { return collectives_.seat().processes; }
  double cores() const {
    return collectives_.seat().cores;
  }  ///< this process's share of its host's
  bool alone() const { return processes() == 1; }
  bool leads() const { return rank() == 0; }  ///< writes the run's files, and speaks

  transport::Transport& transport() { return transport_; }
  transport::Group& collectives() { return collectives_; }
  const transport::Idle& idle() const { return idle_; }

  /// The label of the next gossip: rounds of a transport do not begin again with the next run.
  transport::Label next_gossip() { return {transport::Lane::kGossip, gossips_++}; }

  /// Do `body`; if that throws in any process, throw in all of them what the first of those threw,
  /// named if it is not process 0.
  void agree(const std::function<void()>& body);

  /// What `body` gives in process 0, where alone it is called; if it throws, that as above.
  Bytes ask_process_0(const std::function<Bytes()>& body);

  /// Throws InvalidArgument in all processes if `text` differs between them: "[transport] process 2
  /// has another `what` than process 0".
  void agree_on(std::string_view what, std::string_view text);

  /// Whether `mine` holds in any process.
  bool any(bool mine);

  /// Whether all processes have thrown, since `agree` told them to: nobody waits for another one.
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

/// Averages over the peers of all processes. In peer order, with the bits of one process; where
/// the transport has a fast sum (mpi:allreduce=fast) in an order of its own.
class GroupCollective final : public algorithm::Collective {
 public:
  GroupCollective(ProcessGroup& group, const transport::Placement& placement,
                  backend::Kernels& kernels)
      : group_(group), placement_(placement), kernels_(kernels) {}

  void mean(backend::Block rows) override;
  double mean(std::span<const double> values) override;

  double seconds_waited() const { return waited_; }  ///< in both, in all

 private:
  ProcessGroup& group_;
  const transport::Placement& placement_;
  backend::Kernels& kernels_;
  std::vector<float> mean_;
  double waited_ = 0;
  bool is_fast_ = true;  ///< until the transport says that it has no fast sum
};

}  // namespace hearsay::gossip
