#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "hearsay/core/random.h"
#include "hearsay/model/network.h"

namespace hearsay::engine {

/// A network compiled for one device and batch size: layouts, fused steps, one arena.
///
/// A plan holds no parameters: every call is handed one peer's flat arrays, in the plain layout of
/// Network::layout(). The memory is for one peer at a time, so a process needs one plan a thread,
/// not one a peer. The arena is allocated once; a call allocates nothing that grows with the batch.
/// A result depends only on the call's arguments and what `images` holds.
///
/// Thread safety: none; one call at a time.
class Plan {
 public:
  virtual ~Plan() = default;

  virtual std::size_t batch() const = 0;
  virtual std::size_t arena_bytes() const = 0;  ///< memory for activations and scratch

  /// Where the caller puts the next batch: batch() samples of channel, row, column, as the model
  /// sees them. Every call below reads it and leaves it undefined.
  virtual std::span<float> images() = 0;

  /// The mean softmax cross-entropy of the batch, in training mode; `gradient` is overwritten with
  /// its gradient, running statistics are updated. `random` decides what dropout drops.
  virtual double gradient(std::span<const float> parameters, std::span<float> buffers,
                          std::span<const std::uint16_t> labels, const Random& random,
                          std::span<float> gradient) = 0;

  /// Forward in evaluation mode; `logits` gets batch() rows of Network::classes().
  virtual void logits(std::span<const float> parameters, std::span<const float> buffers,
                      std::span<float> logits) = 0;

  /// Forward in training mode (without dropout), for its statistics only:
  /// buffers = (1 - momentum) buffers + momentum (of this batch).
  virtual void observe(std::span<const float> parameters, std::span<float> buffers,
                       double momentum) = 0;
};

/// For one thread of the CPU. Throws InvalidArgument if a value of the network is read by nobody.
std::unique_ptr<Plan> make_cpu_plan(const model::Network& network, std::size_t batch);

}  // namespace hearsay::engine
