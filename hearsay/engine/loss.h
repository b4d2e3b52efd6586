#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "hearsay/core/registry.h"
#include "hearsay/data/dataset.h"

namespace hearsay::engine {

/// What is minimized, a function of a network's outputs y_1 .. y_K for a sample and of its targets.
/// That of a batch is the mean over its samples, as PyTorch's losses with reduction="mean":
///
///   cross-entropy   ln sum_k exp(y_k) - y_c                for a sample of class c
///   mse             1/K sum_k e_k^2                        e_k = y_k - t_k; without a factor 1/2
///   huber:delta     1/K sum_k h(e_k)                       h(e) = e^2 / 2 if |e| <= delta,
///                                                          delta (|e| - delta / 2) beyond
///
/// t are the standardized targets (data/targets.h), so delta is in deviations of a target.
struct Loss {
  enum class Kind : std::uint32_t { kCrossEntropy, kMse, kHuber };
  Kind kind = Kind::kCrossEntropy;
  float delta = 1;  ///< of kHuber

  bool of_numbers() const { return kind != Kind::kCrossEntropy; }
  /// Sums besides the loss that an evaluation makes for a model: the number of samples whose class
  /// it finds, or for each of `outputs` the sum of e_k^2.
  std::size_t tallies(std::size_t outputs) const { return of_numbers() ? outputs : 1; }

  bool operator==(const Loss&) const = default;
};

/// K times the loss of one output that is off by e, and its derivative. Both devices call this.
struct ErrorTerm {
  double value, derivative;
};
constexpr ErrorTerm error_term(Loss::Kind kind, double delta, double e) {
  if (kind == Loss::Kind::kMse) return {e * e, 2 * e};
  if (e > delta) return {delta * (e - delta / 2), delta};
  if (e < -delta) return {delta * (-e - delta / 2), -delta};
  return {e * e / 2, e};
}

/// The targets of the samples of a batch: the loss reads one of the two.
struct Targets {
  std::span<const std::uint16_t> labels{};  ///< one per sample
  std::span<const float> numbers{};         ///< one per output and sample, a sample's together
};

/// One row of the registry.
struct LossEntry : Row<Loss()> {
  data::Task task;  ///< the targets that it is for
};

Registry<LossEntry> loss_registry();

/// make_loss("huber:delta=0.5", task). Throws InvalidArgument, including for a loss of the other
/// task.
Loss make_loss(std::string_view spec, data::Task task);

/// The spec of the loss of a task by default: cross-entropy, mse.
std::string_view default_loss(data::Task task);

}  // namespace hearsay::engine
