#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hearsay/engine/objectives.h"

namespace hearsay::engine {

/// The id of the stream of everything that peers have in common; it belongs to no peer.
inline constexpr std::uint32_t kAllPeers = 0xffffffffu;

/// A synthetic problem: the mean over all n peers of f_i has a known minimum x*, to measure
/// against.
class KnownOptimum : public Objective {
 public:
  const Layout& layout() const final { return layout_; }
  std::uint64_t rounds_per_epoch() const override { return 1; }
  std::span<const Metric> metrics() const final { return {&kDistance, 1}; }
  Score evaluate(std::span<const float> model, std::span<const float> /*buffers*/) const final;
  std::vector<Score> scores(backend::ConstBlock at) final;
  std::span<const double> optimum() const final { return optimum_; }

 protected:
  /// `bytes` are what the problem itself takes; throws InvalidArgument if they are more than there
  /// are.
  KnownOptimum(const ObjectiveContext& context, std::size_t dim, std::string_view name,
               double bytes);

  /// The mean over all n peers of f_i at the model.
  virtual double model_loss(std::span<const float> model) const = 0;

  std::size_t dim() const { return layout_.dim(); }
  std::uint32_t peer(std::size_t row) const { return static_cast<std::uint32_t>(first_ + row); }

  ThreadPool& pool_;
  const std::uint64_t seed_;
  std::vector<double> optimum_;  ///< set by the subclass's constructor

 private:
  std::size_t first_;
  Layout layout_;
};

/// A problem with gradients in closed form: computed in double at the float x and rounded once.
/// Peers start at x = 0.
///
/// Noise: every gradient gets its own isotropic normal vector w with E |w|^2 = sigma^2, drawn anew
/// each round. The losses have no noise.
class ClosedForm : public KnownOptimum {
 public:
  void initial_model(std::uint32_t peer, std::span<float> x) const override;
  void gradients(std::uint32_t round, backend::ConstBlock at, backend::Block out,
                 std::span<double> losses) final;

 protected:
  ClosedForm(const ObjectiveContext& context, std::size_t dim, double noise, std::string_view name,
             double bytes);

  /// Returns the loss of the bank's row at x in that round and writes its gradient to g. Rows run
  /// concurrently.
  virtual double peer_gradient(std::size_t row, std::uint32_t round, std::span<const double> x,
                               std::span<double> g) = 0;

  /// The mean over all n peers of f_i(x).
  virtual double mean_loss(std::span<const double> x) const = 0;

 private:
  double model_loss(std::span<const float> model) const final;

  double noise_;
};

}  // namespace hearsay::engine
