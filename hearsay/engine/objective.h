#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/backend/kernels.h"
#include "hearsay/backend/state.h"
#include "hearsay/core/layout.h"
#include "hearsay/engine/score.h"

namespace hearsay {
class ThreadPool;
}
namespace hearsay::model {
class Network;
}

namespace hearsay::engine {

class Objective;

/// What one run asks for in a round: see Objective::gradients.
struct GradientRequest {
  Objective* objective;
  std::uint32_t round;
  backend::ConstBlock at;
  backend::Block out;
  std::span<double> losses;
};

/// What peers train: anything that gives gradients and losses for a bank of m peers.
///
/// The bank's row i is peer `first + i`; every random number is keyed by the peer's global id and
/// the round, so that a problem is the same however the peers are spread over processes.
///
/// Blocks are of the run's kernels; `std::span`s are of the host's memory.
class Objective {
 public:
  virtual ~Objective() = default;

  virtual const Layout& layout() const = 0;

  /// Rounds in one epoch: ceil(samples of a peer / batch); 1 where every gradient sees all the
  /// data.
  virtual std::uint64_t rounds_per_epoch() const = 0;

  /// Samples that one peer reads in one round.
  virtual std::size_t batch() const = 0;

  /// The model of a peer before the first round goes to x: of any of the n peers, not only the
  /// bank's.
  virtual void initial_model(std::uint32_t peer, std::span<float> x) const = 0;
  /// Whether that is the same for all peers.
  virtual bool starts_alike() const { return false; }

  /// For every row i: out_i = the gradient at at_i on the peer's minibatch of that round, losses[i]
  /// the mean loss on it. The blocks do not overlap. `losses` is room from Kernels::results: they
  /// are there after the next `synchronize`.
  virtual void gradients(std::uint32_t round, backend::ConstBlock at, backend::Block out,
                         std::span<double> losses) = 0;

  /// What several runs ask for at once, this objective's first: as if each asked alone, bit for
  /// bit, but a device may compute all rows of objectives that are alike (same network, batch and
  /// images; seeds and parts of their own) side by side.
  virtual void gradients_together(std::span<const GradientRequest> requests);

  /// In rounds without a gradient: let every row's buffers follow the model at_i, on the minibatch
  /// that `gradients` would read. Nothing else changes.
  virtual void observe(std::uint32_t /*round*/, backend::ConstBlock /*at*/) {}

  /// What belongs to a peer's model but is neither trained nor sent: running statistics of batch
  /// norm. Row i's are updated by `gradients` and `observe`.
  virtual const Layout& buffer_layout() const {
    static const Layout kNone;
    return kNone;
  }
  virtual std::vector<float> buffers(std::size_t /*row*/) const { return {}; }
  /// Before the first round: row i goes on from these, of buffer_layout().dim() floats.
  virtual void set_buffers(std::size_t /*row*/, std::span<const float> /*buffers*/) {}

  /// Buffers for a model that no peer holds, such as the average: statistics of that model on
  /// training samples of all n peers, whatever the bank. Only where the context said that it would
  /// be asked for. May run concurrently with itself.
  virtual std::vector<float> estimate_buffers(std::span<const float> /*model*/) const { return {}; }

  /// What a Score of this objective has besides the loss, the most important first: terminal and
  /// charts give it the most room.
  virtual std::span<const Metric> metrics() const { return {}; }

  /// The score of one model of layout().dim() floats, with its buffers. May run concurrently with
  /// itself.
  virtual Score evaluate(std::span<const float> model, std::span<const float> buffers) const = 0;

  /// The score of every row's model at_i, with row i's buffers.
  virtual std::vector<Score> scores(backend::ConstBlock at) = 0;

  /// counts[peer][label] for all n peers: who holds which classes. Empty where there are none.
  virtual std::vector<std::vector<std::size_t>> class_counts() const { return {}; }

  /// What is trained, where that is a network.
  virtual const model::Network* network() const { return nullptr; }

  /// The names of the classes, where the data has any.
  virtual std::vector<std::string> class_names() const { return {}; }

  /// SHA-256 of the samples that are trained and tested on; empty where a spec says it all.
  virtual std::string data_sha256() const { return ""; }

  /// What a restart must find again, besides the round number.
  virtual void state(backend::StateList& /*list*/) {}

  /// x*, the minimum of the mean of all n peers' functions, where it is known; else empty.
  virtual std::span<const double> optimum() const { return {}; }
};

/// `scores` by `evaluate`, rows in parallel: for objectives on the host.
std::vector<Score> evaluate_rows(const Objective& objective, backend::ConstBlock at,
                                 ThreadPool& pool);

}  // namespace hearsay::engine
