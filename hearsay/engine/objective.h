#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
struct Description;
}  // namespace hearsay::model

namespace hearsay::engine {

class Objective;

/// The arguments of one run's request in a round: see Objective::gradients.
struct GradientRequest {
  Objective* objective;
  std::uint32_t round;
  backend::ConstBlock at;
  backend::Block out;
  std::span<double> losses;
};

/// What peers train: anything that computes gradients and losses for a bank of m peers.
///
/// The bank's row i is peer `first + i`; every random number is keyed by the peer's global id and
/// the round, so that a problem does not depend on how the peers are distributed over processes.
///
/// Blocks are in the memory of the run's kernels; `std::span`s are in host memory.
class Objective {
 public:
  virtual ~Objective() = default;

  virtual const Layout& layout() const = 0;

  /// Rounds per epoch: ceil(samples per peer / batch); 1 if every gradient uses all the data.
  virtual std::uint64_t rounds_per_epoch() const = 0;

  /// Samples per peer and round.
  virtual std::size_t batch() const = 0;

  /// Write the model of a peer before the first round to x: for any of the n peers, not only the
  /// bank's.
  virtual void initial_model(std::uint32_t peer, std::span<float> x) const = 0;
  /// Whether that is the same for all peers.
  virtual bool starts_alike() const { return false; }

  /// For every row i: out_i = the gradient at at_i on the peer's minibatch of that round, losses[i]
  /// the mean loss on it. The blocks do not overlap. `losses` is a result buffer from
  /// Kernels::results: valid after the next `synchronize`.
  virtual void gradients(std::uint32_t round, backend::ConstBlock at, backend::Block out,
                         std::span<double> losses) = 0;

  /// The requests of several runs at once, this objective's first: bitwise the same as separate
  /// calls, but a device may compute all rows of similar objectives (same network, batch and
  /// images; their own seeds and parts) in parallel.
  virtual void gradients_together(std::span<const GradientRequest> requests);

  /// In rounds without a gradient: update every row's buffers with the model at_i, on the minibatch
  /// that `gradients` would read. Nothing else changes.
  virtual void observe(std::uint32_t /*round*/, backend::ConstBlock /*at*/) {}

  /// State of a peer's model that is neither trained nor sent: running statistics of batch norm.
  /// Row i's are updated by `gradients` and `observe`.
  virtual const Layout& buffer_layout() const {
    static const Layout kNone;
    return kNone;
  }
  virtual std::vector<float> buffers(std::size_t /*row*/) const { return {}; }
  /// Before the first round: row i continues from these, of buffer_layout().dim() floats.
  virtual void set_buffers(std::size_t /*row*/, std::span<const float> /*buffers*/) {}

  /// Buffers for a model that no peer holds, such as the averaged model: statistics of that model
  /// on training samples of all n peers, whatever the bank. Only if the context announced it
  /// (ObjectiveContext::estimates). May run concurrently with itself.
  virtual std::vector<float> estimate_buffers(std::span<const float> /*model*/) const { return {}; }

  /// A model as it is exported: with the tensors that are not trained, if there are any
  /// (train_only.h).
  virtual const Layout& whole_layout() const { return layout(); }
  /// The whole model that a trained one belongs to, and the trained part of a whole one.
  virtual std::vector<float> whole(std::span<const float> trained) const {
    return {trained.begin(), trained.end()};
  }
  virtual std::vector<float> trained(std::span<const float> whole) const {
    return {whole.begin(), whole.end()};
  }

  /// The metrics of a Score of this objective besides the loss, the most important first: terminal
  /// and charts give that one the most space.
  virtual std::span<const Metric> metrics() const { return {}; }

  /// The score of one model of layout().dim() floats, with its buffers. May run concurrently with
  /// itself.
  virtual Score evaluate(std::span<const float> model, std::span<const float> buffers) const = 0;

  /// The score of every row's model at_i, with row i's buffers.
  virtual std::vector<Score> scores(backend::ConstBlock at) = 0;

  /// counts[peer][label] for all n peers: the label distribution. Empty if there are no classes.
  virtual std::vector<std::vector<std::size_t>> class_counts() const { return {}; }

  /// The network that is trained, if it is one.
  virtual const model::Network* network() const { return nullptr; }
  /// What an export says of it; none if it is no network of the registry.
  virtual std::optional<model::Description> description() const;

  /// The names of the classes, if the data has any.
  virtual std::vector<std::string> class_names() const { return {}; }

  /// Of numbers to predict, one entry per output: a target is mean + deviation (output). Empty if
  /// there are none.
  struct TargetScale {
    std::vector<float> mean, deviation;
  };
  virtual TargetScale target_scale() const { return {}; }

  /// SHA-256 of the training and test samples; empty if the spec determines them.
  virtual std::string data_sha256() const { return ""; }

  /// The state that a checkpoint must restore, besides the round number.
  virtual void state(backend::StateList& /*list*/) {}

  /// x*, the minimum of the mean of all n peers' functions, if it is known; else empty.
  virtual std::span<const double> optimum() const { return {}; }
};

/// `scores` by `evaluate`, rows in parallel: for objectives on the host.
std::vector<Score> evaluate_rows(const Objective& objective, backend::ConstBlock at,
                                 ThreadPool& pool);

}  // namespace hearsay::engine
