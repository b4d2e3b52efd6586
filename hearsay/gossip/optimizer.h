#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "hearsay/backend/kernels.h"
#include "hearsay/backend/state.h"
#include "hearsay/core/registry.h"

namespace hearsay::gossip {

/// Turns a gradient into the direction d of a local step x - lr * d. State is one row per peer.
///
/// With lambda = weight_decay, x the numerator (not z: algorithms.md 1.1), and g clipped first, per
/// peer, to |g| <= clip (0: never):
///   sgd       d = g + lambda x
///   momentum  m = beta m + g + lambda x;  d = m
///   nesterov  m = beta m + g + lambda x;  d = g + lambda x + beta m
///   adam      d = adam(g + lambda x)      (Kingma, Ba 2015)
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Overwrite `gradient` with the direction.
  virtual void direction(backend::ConstBlock x, backend::Block gradient) = 0;

  /// Whether the direction is linear in past gradients, as some methods require; Adam's is not.
  virtual bool linear() const = 0;
  /// Whether it keeps momentum; methods with built-in momentum reject such optimizers.
  virtual bool has_momentum() const = 0;

  virtual void state(backend::StateList& list) = 0;
};

/// Makes an optimizer for a bank of `rows` models of `dim` floats.
using MakeOptimizer =
    std::function<std::unique_ptr<Optimizer>(backend::Kernels&, std::size_t rows, std::size_t dim)>;

struct OptimizerEntry
    : Row<std::unique_ptr<Optimizer>(backend::Kernels&, std::size_t rows, std::size_t dim)> {
  std::size_t arrays;  ///< state arrays of d floats per peer
};

Registry<OptimizerEntry> optimizer_registry();

/// make_optimizer("nesterov:beta=0.9,weight_decay=1e-4", kernels, m, d). Throws InvalidArgument.
std::unique_ptr<Optimizer> make_optimizer(std::string_view spec, backend::Kernels& kernels,
                                          std::size_t rows, std::size_t dim);

}  // namespace hearsay::gossip
