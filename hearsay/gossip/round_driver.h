#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/algorithm/robust/aggregation.h"
#include "hearsay/backend/state.h"
#include "hearsay/compress/compressor.h"
#include "hearsay/gossip/delivery.h"
#include "hearsay/gossip/group_mass_meter.h"
#include "hearsay/gossip/ledger.h"
#include "hearsay/gossip/liars/liars.h"
#include "hearsay/gossip/machine.h"
#include "hearsay/gossip/optimizer.h"
#include "hearsay/graph/facts.h"
#include "hearsay/graph/schedule.h"

namespace hearsay::gossip {

/// What rounds are made of. Every part may be the caller's own.
struct DriverParts {
  Layout layout;  ///< of a peer's model
  std::unique_ptr<graph::Schedule> schedule;
  algorithm::Method method;  ///< if it has needs, they are checked (algorithm::check_fit)
  std::unique_ptr<compress::Compressor> compressor{};  ///< null: identity
  /// Turns gradients into directions; empty: what the caller writes are the directions.
  MakeOptimizer optimizer{};
  /// Writes the initial model of any of the n peers to x; empty: zeros.
  std::function<void(std::uint32_t peer, std::span<float> x)> initial_model{};
  std::string link = "none";    ///< a simulated network (link.h)
  std::string robust = "none";  ///< what receivers do against liars (aggregation_registry)
  std::string liars = "none";   ///< peers of a simulation in lock step that lie (liars/liars.h)
  Arrives arrives{};            ///< empty: as the link has it
  /// How messages travel; empty: in lock step over the machine's process group (MessageExchange).
  std::unique_ptr<Delivery> delivery{};
  std::uint64_t seed = 1;
  std::uint64_t rounds_per_epoch = 1;  ///< for graphs that change by the epoch
  bool constant_rate = true;           ///< whether lr will be the same in all training rounds
  /// Of the schedule; empty: computed, which takes long for large irregular graphs.
  std::optional<graph::Facts> facts{};
  std::uint64_t first_round = 0;  ///< a peer that enters a run late begins where the others are
  std::string graph_name = "this graph", compressor_name = "this compressor";  ///< in messages
};

/// What the caller of a round decides.
struct RoundSettings {
  float lr = 0;
  bool final = false;         ///< one of the method's final_rounds(): no gradient, lr = 0
  bool mix_only = false;      ///< no gradient, whatever the method plans
  bool measure_mass = false;  ///< measure the mass drift, at the cost of a few passes over models
};

/// The rounds of a bank (the peers of a run that live in this process: all n of them, or those of
/// one of several processes), with everything of a round but the gradient: schedule, method,
/// optimizer, exchange of messages, ledger.
///
///   RoundDriver driver(std::move(parts));
///   driver.run_round({.lr = 0.1f}, [&] {
///     ... read driver.models(), write driver.gradient() and driver.losses() ...
///   });
///
/// The caller decides on the learning rate and the number of rounds, and gets gradients from
/// wherever it likes. Between the processes of a group all call the same members in the same order,
/// except for those that are marked as local.
///
/// Rounds do not wait for the device. Their results are added to the ledger by `drain`, at the
/// latest when the device is Kernels::lag() rounds behind, so a failure may be reported some rounds
/// late.
class RoundDriver {
 public:
  /// On a machine of its own (the host, one thread), or on one shared with others. Every peer gets
  /// its initial model. Throws InvalidArgument.
  explicit RoundDriver(DriverParts parts);
  RoundDriver(DriverParts parts, std::shared_ptr<Machine> machine);
  ~RoundDriver();

  std::uint64_t round() const { return round_; }  ///< completed rounds

  /// One round. `gradients` is called if the round takes one, and writes `gradient()` and
  /// `losses()`; without it both are zero: pure averaging. If it throws, the round has not happened
  /// and can be run again, unless messages were sent to other processes before it. Throws RunFailed
  /// if a loss or a model is no longer finite, naming peer and round.
  void run_round(const RoundSettings& settings = {}, const std::function<void()>& gradients = {});

  /// Where gradients are taken: row i is the model of peer first() + i. The block never moves.
  backend::ConstBlock models() const { return algorithm_->point(); }
  /// Where the gradients go, and the losses, a result buffer (Kernels::results): to be written
  /// between the halves of a round that takes them. There only these three members may be called.
  backend::Block gradient() const { return gradient_; }
  std::span<double> losses() const { return losses_; }

  /// Wait until all rounds are completed and recorded. Throws as run_round does.
  void drain() const;
  /// `drain`, and throws RunFailed if a model is not finite, naming the peer. Of several processes
  /// all throw, and only here: until this synchronization, those that have failed continue like the
  /// others.
  void check_finite() const;
  /// Throws RunFailed for what has been recorded, if this process may fail on its own. Local.
  void check() const;

  /// The averaged model: the mean of all n peers' models, but for simulated liars.
  std::vector<float> average_model() const;
  /// The averaged model, and the distance |z_i - mean z| of every peer of this process.
  struct Consensus {
    std::vector<float> average;
    std::vector<double> distances;
  };
  Consensus consensus() const;
  /// Consensus distance: the root of the mean over all n peers, liars too, of |z_i - mean z|^2.
  double consensus_distance();

  /// The complete state for a restart, in two parts: round and ledger, method and optimizer. Read
  /// it after `drain`.
  void progress_state(backend::StateList& list);
  void method_state(backend::StateList& list);
  /// To be called before and after a state of `round` completed rounds is read back.
  void restoring(std::uint64_t round) { meet_senders(round); }
  void restored() { algorithm_->restored(); }

  // Local to this process:
  std::size_t peers() const { return placement_.peers; }  ///< n, of all processes
  std::size_t first() const { return first_; }            ///< the first of this process's peers
  std::size_t rows() const { return rows_; }              ///< number of this process's peers
  const Layout& layout() const { return parts_.layout; }
  const transport::Placement& placement() const { return placement_; }
  const graph::Facts& graph() const { return facts_; }
  const std::string& graph_sha256() const { return graph_sha256_; }  ///< of one period's edges
  const compress::Compressor& compressor() const { return *parts_.compressor; }
  algorithm::Algorithm& algorithm() const { return *algorithm_; }
  const algorithm::Plan& plan() const { return plan_; }  ///< of the last round that was begun
  const Optimizer* optimizer() const { return optimizer_.get(); }  ///< null: none
  Ledger& ledger() const { return *ledger_; }
  Machine& machine() const { return *machine_; }
  ProcessGroup& group() const { return machine_->group(); }
  /// Simulated liars, ascending.
  std::span<const std::uint32_t> liars() const {
    return liars_ ? liars_->peers() : std::span<const std::uint32_t>();
  }
  /// False if receivers change what they get, or senders what they say: nothing is measured then.
  bool conserves_mass() const { return !aggregation_ && !liars_; }
  /// Number of models the host processes in parallel: one per thread, within 256 MB.
  std::size_t models_at_once() const;
  /// Time spent in rounds waiting for other processes.
  double seconds_waited() const {
    return parts_.delivery->seconds_waited() + everybody_.seconds_waited();
  }

 private:
  friend void begin_round(std::span<struct Turn> turns);
  friend void end_round(std::span<struct Turn> turns);

  bool in_lock_step() const { return !parts_.delivery || parts_.delivery->in_lock_step(); }
  bool begin(const RoundSettings& settings);
  void record_losses();
  void end();
  void start();
  void start_of(std::uint32_t peer, std::span<float> x) const;
  void meet_senders(std::uint64_t round);
  graph::Weights weights_of(std::uint64_t round);
  void step();
  void emit();
  void check_outbox() const;
  void check_memory() const;
  void check_robust();
  void mix();
  void mix(const algorithm::Exchange& arrived);
  void average();
  std::span<double> norms_of(backend::ConstBlock rows) const;
  Consensus consensus_on_device() const;
  std::vector<float> average_of_honest() const;

  std::shared_ptr<Machine> machine_;  ///< shared by the drivers of a fleet
  backend::Kernels& kernels_;
  DriverParts parts_;
  transport::Placement placement_;
  std::size_t first_, rows_;
  graph::Facts facts_;
  std::string graph_sha256_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<compress::BankCompressor> bank_compressor_;
  std::unique_ptr<algorithm::Algorithm> algorithm_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Liars> liars_;                         ///< null: none
  std::unique_ptr<algorithm::Aggregation> aggregation_;  ///< null: none
  GroupCollective everybody_;
  GroupMassMeter meter_;
  backend::Array gradient_;
  std::span<double> losses_;
  std::optional<std::uint64_t> met_phase_;  ///< of the graph whose senders the algorithm knows
  std::uint64_t round_ = 0;
  // State of the round that has begun:
  algorithm::Plan plan_;
  graph::Weights weights_;                    ///< its edges
  std::optional<graph::Weights> all_to_all_;  ///< of rounds that gather
  bool measure_mass_ = false;
  algorithm::Outbox outbox_;
};

/// One driver's part in a round of several.
struct Turn {
  RoundDriver* driver = nullptr;
  RoundSettings settings{};
  bool takes_gradient = false;  ///< set by begin_round
  std::exception_ptr error{};   ///< of this driver; it takes no further part in the round
};

/// The first half of a round of drivers that share a machine: up to the gradients, which the caller
/// writes for those that take one.
void begin_round(std::span<Turn> turns);

/// The second half: optimizer, method, messages, each driver's on a stream of its own. Submits the
/// round to the device, and waits for it if mass was measured.
void end_round(std::span<Turn> turns);

/// Both, with `gradients` in between; what that throws is the error of all. An error of one driver
/// does not affect the others.
void run_round(std::span<Turn> turns, const std::function<void(std::span<const Turn>)>& gradients);

}  // namespace hearsay::gossip
