#pragma once

#include <cstddef>
#include <cstdint>

#include "hearsay/backend/kernels.h"
#include "hearsay/engine/objective.h"
#include "hearsay/gossip/traffic.h"
#include "hearsay/graph/facts.h"

namespace hearsay::train {

/// What progress lines, pages and summaries may ask of a run, in lock step or not.
class RunView {
 public:
  virtual ~RunView() = default;

  /// Completed rounds; of peers that do not wait for each other the fleet's clock, the mean of
  /// theirs.
  virtual std::uint64_t round() const = 0;
  virtual std::uint64_t training_rounds() const = 0;
  virtual std::uint32_t final_rounds() const = 0;  ///< of the method, after those of training
  std::uint64_t total_rounds() const { return training_rounds() + final_rounds(); }

  virtual std::size_t peers() const = 0;  ///< n, of all processes
  virtual double averaging_rate() const = 0;
  virtual const graph::Facts& graph() const = 0;
  /// The objective of some of the peers.
  virtual const engine::Objective& objective() const = 0;
  virtual backend::Kernels& kernels() const = 0;
  virtual std::size_t threads() const = 0;

  /// What all peers have sent in drained rounds, on rank 0.
  virtual gossip::Traffic traffic() const = 0;
};

}  // namespace hearsay::train
