#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hearsay/algorithm/bank.h"
#include "hearsay/algorithm/exchange.h"
#include "hearsay/backend/kernels.h"
#include "hearsay/backend/state.h"
#include "hearsay/core/registry.h"
#include "hearsay/graph/schedule.h"

namespace hearsay::algorithm {

/// One round, as the driver announces it.
struct Round {
  std::uint32_t index = 0;
  std::uint64_t phase = 0;  ///< graph::Schedule::phase of this round
  float lr = 0;             ///< learning rate
  bool last_phase = false;  ///< one of the final_rounds() after training: no gradient
};

/// What the coming round does, as decided by the algorithm.
struct Plan {
  enum class Talk {
    kSilent,  ///< no messages
    kGossip,  ///< emit, deliver, mix
    kGather,  ///< the same over the complete graph with weights 1/n, whatever the schedule: every
              ///< peer gets the vectors of all others, counted as messages over n - 1 edges each
    kGlobal,  ///< average over all peers; 2(n-1)/n * 4d bytes per peer, counted separately
  };
  Talk talk = Talk::kGossip;
  bool gradient = true;
  bool send_first = false;    ///< emit before the gradient: the message does not need it
  bool reads_losses = false;  ///< `average` reads them, so the host must wait for them

  bool gossips() const { return talk == Talk::kGossip || talk == Talk::kGather; }
};

// clang-format off: the order of calls is a table
/// A decentralized method as a pure state machine for a bank of m peers: no threads, sockets,
/// clocks or files.
///
/// The driver (gossip::RoundDriver) calls, in this order:
///
///   once         initial() is filled with the starting models, then start()
///   each round   meet(senders)       if the phase is new
///                plan(round)
///                emit(outbox)        if it gossips (or gathers) and sends first
///                step(direction)     if it takes a gradient; direction: the optimizer's output
///                emit(outbox)        if it gossips and does not send first
///                mix(exchange)       if it gossips; exchange: what arrived
///                average(collective) if the round is global
///
// clang-format on
/// A round may be begun again: `plan` and a first `emit` change nothing that a second call for the
/// same round would not, so a driver whose gradient failed can repeat the round.
///
/// All state is one row per peer (listed by `state`), so a run can be saved, moved between process
/// counts and resumed exactly. Contract, checked for every row of `registry()` by
/// tests/algorithm/contract_test.cpp: mixing goes only through Kernels::mix and mix_compensated, so
/// the sum over peers of what is mixed does not change beyond rounding (backend::MassMeter measures
/// it), nor does the sum of `push_sum()`.
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  virtual backend::Block initial() = 0;
  virtual void start() = 0;

  /// From the coming round on, these peers of other banks (ascending) send to this one. Called
  /// before `plan` in the first round, whenever the graph's phase changes, and before a state is
  /// restored. A bank of all n peers has none.
  virtual void meet(std::span<const std::uint32_t> /*senders*/) {}

  virtual Plan plan(const Round& round) = 0;

  /// The models: where gradients are taken, what is evaluated and exported. z = x/u under push-sum.
  /// The block stays where it is from `start` on.
  virtual backend::ConstBlock point() const = 0;

  /// What local steps and weight decay act on: x, the push-sum numerator.
  virtual backend::ConstBlock numerator() const = 0;

  /// Apply the local step. The algorithm may overwrite `direction` until the next gradient.
  virtual void step(backend::Block direction) = 0;

  virtual void emit(Outbox& outbox) = 0;
  virtual void mix(const Exchange& exchange) = 0;

  /// `losses`: the minibatch losses of the bank's peers in this round, if the plan reads them.
  virtual void average(Collective& collective, std::span<const double> losses) = 0;

  virtual std::span<const double> push_sum() const = 0;  ///< u; empty: no push-sum
  virtual double averaging_rate() const = 0;             ///< eta

  /// Extra rounds that the method runs after training (scsp); 0 for most.
  virtual std::uint32_t final_rounds() const = 0;

  virtual void state(backend::StateList& list) = 0;
  /// Called after the state was restored, to recompute what is derived from it.
  virtual void restored() = 0;
};

/// What a method requires of the graph, compressor, links and optimizer. Checked by `check_fit`
/// before the first step.
struct Needs {
  enum class Graph { kNone, kColumnStochastic, kDoublyStochastic, kSymmetric };
  enum class Change { kStatic, kPhases, kAny };
  enum class Compression { kRefused, kContractive, kMild };
  Graph graph = Graph::kColumnStochastic;
  Change change = Change::kAny;
  Compression compression = Compression::kRefused;
  bool every_message = false;     ///< a lost message breaks it permanently
  bool linear_optimizer = false;  ///< no Adam
  bool constant_rate = false;     ///< the learning rate must not change
  bool own_momentum = false;      ///< the optimizer must have none
  bool lambda_min_above_third = false;
  /// Works where peers do not wait for each other: any number of messages a round from a sender,
  /// also of negative weight, in several calls of `mix`.
  bool asynchronous = false;
  /// What it sends is x and nothing else, and it averages with nobody but its neighbours: receivers
  /// can judge a sender by its message (robust/aggregation.h).
  bool sends_model = false;
};

/// Message size and memory of one peer, in arrays of d floats.
struct Footprint {
  std::size_t sent = 0;        ///< per edge and round; u travels in a header
  std::size_t kept = 0;        ///< besides x and the gradient
  bool public_copies = false;  ///< and one more per in-neighbour, its public copy (x-hat)
};

/// One row of the registry: what `hearsay list algorithms`, the docs and the tests enumerate.
struct Entry : Row<std::unique_ptr<Algorithm>(const Bank&)> {
  Needs needs;
  Footprint footprint;     ///< of the rounds with gradients
  std::string_view sends;  ///< as the docs print it: "C[v], u"
  std::string_view state;  ///< as the docs print it: what is kept besides x and the gradient
  std::string_view formula;
};

Registry<Entry> registry();

/// What an algorithm is combined with in a run.
struct Surroundings {
  std::string_view graph_spec;
  const graph::Facts& graph;
  graph::Schedule::Change change;
  std::string_view compressor_spec;  ///< "identity" if none
  const compress::Compressor& compressor;
  const Layout& layout;
  bool linear_optimizer = true;
  bool optimizer_has_momentum = false;
  bool constant_rate = true;
  bool lossy_links = false;
  bool asynchronous = false;
};

/// Throws InvalidArgument if an algorithm with these needs cannot work in these surroundings; the
/// message names the algorithm, the missing property and an alternative that has it.
void check_fit(std::string_view name, const Needs& needs, const Surroundings& surroundings);
/// The same for an algorithm of the registry.
void check_fit(std::string_view spec, const Surroundings& surroundings);

/// make_algorithm("sparse-push:eta=0.01", bank). Throws InvalidArgument; for an unknown name the
/// message lists the known ones.
std::unique_ptr<Algorithm> make_algorithm(std::string_view spec, const Bank& bank);

/// A method to run: of the registry, or your own. Empty needs are not checked.
struct Method {
  std::string name;
  std::optional<Needs> needs{};
  std::function<std::unique_ptr<Algorithm>(const Bank&)> make;
};

/// The method of a spec. Throws InvalidArgument for an unknown name.
Method make_method(std::string_view spec);

}  // namespace hearsay::algorithm
