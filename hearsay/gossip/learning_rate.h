#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hearsay/core/registry.h"

namespace hearsay::gossip {

/// Learning rate schedules. With r the rate, e the current (fractional) epoch:
///
///   constant  r
///   steps     r factor^k, with k the number of epochs in `at` that are <= e
///   halve     r / 2^floor(e / every)
///   cosine    r (1 + cos(pi e / E)) / 2, with E the epochs of the whole run
///
/// times, during the first w epochs, 1/10 + 9/10 e / w: linear from a tenth, not from 0, so that
/// the rate is positive in every round (some methods divide by it). w is `warmup`, or with
/// warmup=P% the part P/100 of E. Immutable: safe to share between threads.
class LearningRate {
 public:
  virtual ~LearningRate() = default;

  /// `epoch` is fractional: the round divided by the rounds per epoch. Where an epoch is one round,
  /// as for closed-form objectives, epochs are rounds.
  virtual double at(double epoch, double total_epochs) const = 0;
};

/// One row of the registry.
using LearningRateEntry = Row<std::unique_ptr<LearningRate>()>;

Registry<LearningRateEntry> learning_rate_registry();

/// The spec with its schedule: "0.1,warmup=5" is "constant:0.1,warmup=5". Throws InvalidArgument
/// for a list of numbers.
std::string full_learning_rate(std::string_view spec);

/// make_learning_rate("steps:0.1,at=100+150,factor=0.1"); a plain number is a constant rate, so
/// "0.1" is "constant:0.1". Throws InvalidArgument.
std::unique_ptr<LearningRate> make_learning_rate(std::string_view spec);

}  // namespace hearsay::gossip
