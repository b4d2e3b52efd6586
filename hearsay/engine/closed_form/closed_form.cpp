#include "hearsay/engine/closed_form/closed_form.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "hearsay/core/memory.h"
#include "hearsay/core/random.h"
#include "hearsay/core/thread_pool.h"

namespace hearsay::engine {

KnownOptimum::KnownOptimum(const ObjectiveContext& context, std::size_t dim, std::string_view name,
                           double bytes)
    : pool_(context.pool), seed_(context.seed), first_(context.first), layout_(dim) {
  require_memory(bytes, name, "give it a smaller dim, fewer samples or fewer peers");
}

Score KnownOptimum::evaluate(std::span<const float> model,
                             std::span<const float> /*buffers*/) const {
  assert(model.size() == dim());
  double apart = 0;
  double norm = 0;
  for (std::size_t k = 0; k < model.size(); ++k) {
    const double difference = static_cast<double>(model[k]) - optimum_[k];
    apart += difference * difference;
    norm += optimum_[k] * optimum_[k];
  }
  Score score;
  score.loss = model_loss(model);
  score.values = {std::sqrt(norm > 0 ? apart / norm : apart)};
  return score;
}

std::vector<Score> KnownOptimum::scores(backend::ConstBlock at) {
  return evaluate_rows(*this, at, pool_);
}

ClosedForm::ClosedForm(const ObjectiveContext& context, std::size_t dim, double noise,
                       std::string_view name, double bytes)
    : KnownOptimum(context, dim, name, bytes), noise_(noise) {}

void ClosedForm::initial_model(std::uint32_t /*peer*/, std::span<float> x) const {
  std::ranges::fill(x, 0.0f);
}

void ClosedForm::gradients(std::uint32_t round, backend::ConstBlock at, backend::Block out,
                           std::span<double> losses) {
  const double deviation = std::sqrt(noise_ / static_cast<double>(dim()));
  pool_.run(at.rows, [&](std::size_t i) {
    const std::vector<double> x(at.row(i).begin(), at.row(i).end());
    std::vector<double> g(dim());
    losses[i] = peer_gradient(i, round, x, g);
    if (noise_ > 0) {
      Random random(seed_, Purpose::kNoise, peer(i), round);
      for (double& entry : g) entry += deviation * random.normal();
    }
    std::ranges::transform(g, out.row(i).begin(), [](double v) { return static_cast<float>(v); });
  });
}

double ClosedForm::model_loss(std::span<const float> model) const {
  return mean_loss(std::vector<double>(model.begin(), model.end()));
}

}  // namespace hearsay::engine
