#include "hearsay/engine/cpu/loss.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace hearsay::engine::cpu {

namespace {

/// The mean over the batch of ln sum_k exp(l_k) - l_label.
double cross_entropy(std::span<const float> logits, std::size_t classes, std::size_t batch,
                     std::span<const std::uint16_t> labels, std::span<float> gradient) {
  const double share = 1 / static_cast<double>(batch);
  double loss = 0;
  for (std::size_t n = 0; n < logits.size() / classes; ++n) {
    const float* row = logits.data() + n * classes;
    const double most = static_cast<double>(*std::max_element(row, row + classes));
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(row[k]) - most);
    loss += std::log(sum) + most - static_cast<double>(row[labels[n]]);
    for (std::size_t k = 0; k < classes; ++k) {
      const double p = std::exp(static_cast<double>(row[k]) - most) / sum;
      gradient[n * classes + k] = static_cast<float>((p - (k == labels[n] ? 1.0 : 0.0)) * share);
    }
  }
  return loss * share;
}

/// The mean over the batch and the outputs of the error terms.
double mean_error(const Loss& loss, std::span<const float> outputs, std::size_t count,
                  std::span<const float> targets, std::span<float> gradient) {
  assert(targets.size() == outputs.size());
  const double share = 1 / static_cast<double>(count);
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double e = static_cast<double>(outputs[i]) - static_cast<double>(targets[i]);
    const ErrorTerm term = error_term(loss.kind, static_cast<double>(loss.delta), e);
    sum += term.value;
    gradient[i] = static_cast<float>(term.derivative * share);
  }
  return sum * share;
}

}  // namespace

double batch_loss(const Loss& loss, std::span<const float> outputs, std::size_t width,
                  std::size_t batch, const Targets& targets, std::span<float> gradient) {
  return loss.of_numbers() ? mean_error(loss, outputs, batch * width, targets.numbers, gradient)
                           : cross_entropy(outputs, width, batch, targets.labels, gradient);
}

void add_sample(const Loss& loss, std::span<const float> outputs, const Targets& targets,
                Totals& totals) {
  if (!loss.of_numbers()) {
    const std::size_t label = targets.labels.front();
    const auto best = std::ranges::max_element(outputs);
    const double most = static_cast<double>(*best);
    double sum = 0;
    for (float logit : outputs) sum += std::exp(static_cast<double>(logit) - most);
    totals.loss += std::log(sum) + most - static_cast<double>(outputs[label]);
    totals.tallies[0] += static_cast<std::size_t>(best - outputs.begin()) == label ? 1 : 0;
    return;
  }
  double sum = 0;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const double e = static_cast<double>(outputs[k]) - static_cast<double>(targets.numbers[k]);
    sum += error_term(loss.kind, static_cast<double>(loss.delta), e).value;
    totals.tallies[k] += e * e;
  }
  totals.loss += sum / static_cast<double>(outputs.size());
}

}  // namespace hearsay::engine::cpu
