#pragma once

#include <memory>
#include <span>

#include "hearsay/backend/precision.h"
#include "hearsay/engine/cpu/lanes.h"
#include "hearsay/engine/loss.h"
#include "hearsay/engine/stream_key.h"
#include "hearsay/model/network.h"

namespace hearsay::engine::cpu {

/// A network compiled for a batch size and some threads of the CPU, over which every step is
/// spread.
///
/// A program holds no parameters: every call is given one peer's flat arrays, in the plain layout
/// of Network::layout(). The memory is for one peer at a time, so a process needs one program per
/// peer that it computes at the same time, not one per peer. The arena is allocated once; a call
/// allocates nothing that grows with the batch. A result depends only on the call's arguments and
/// the contents of `images`, not on the threads.
///
/// Thread safety: none; one call at a time.
class Program {
 public:
  virtual ~Program() = default;

  virtual std::size_t batch() const = 0;
  virtual std::size_t arena_bytes() const = 0;  ///< activations and scratch

  /// Where the caller puts the next batch: batch() samples of channel, row, column, as the model
  /// sees them. Every call below reads it and leaves it undefined.
  virtual std::span<float> images() = 0;

  /// The loss of the batch, in training mode; `gradient` is overwritten with its gradient, running
  /// statistics are updated. `key` names the random streams of dropout and of rounding.
  virtual double gradient(std::span<const float> parameters, std::span<float> buffers,
                          const Targets& targets, const StreamKey& key,
                          std::span<float> gradient) = 0;

  /// Forward in evaluation mode; `outputs` receives batch() rows of Network::outputs().
  virtual void outputs(std::span<const float> parameters, std::span<const float> buffers,
                       std::span<float> outputs) = 0;

  /// Forward in training mode (without dropout), only to update the statistics:
  ///   buffers = (1 - momentum) buffers + momentum (of this batch).
  virtual void observe(std::span<const float> parameters, std::span<float> buffers,
                       double momentum) = 0;
};

/// In single precision (kFp32) or in 8 bits (kInt8). Throws InvalidArgument: a value of the network
/// is never read, or 8 bits cannot train it.
std::unique_ptr<Program> make_program(backend::Precision precision, const model::Network& network,
                                      std::size_t batch, const Loss& loss, const Lanes& lanes = {});

}  // namespace hearsay::engine::cpu
