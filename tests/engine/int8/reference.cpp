#include "engine/int8/reference.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <variant>

#include "engine/int8/reference_step.h"
#include "hearsay/engine/fuse.h"

namespace hearsay::engine {

namespace {

using reference8::Floats;
using reference8::kChunk;
using reference8::Step;
using reference8::Value;

/// Whether 8 bits train it.
template <class Kind>
constexpr bool kSupported = requires(const Kind& kind, Step& step) {
  forward(kind, step);
};

/// A batch on its way through a network.
class Pass {
 public:
  Pass(const model::Network& network, std::span<const float> parameters,
       std::span<const float> images, const StreamKey* key, Int8Variant variant)
      : net_(network),
        parameters_(parameters),
        batch_(images.size() / network.shape(network.input()).size()),
        key_(key),
        variant_(variant),
        fused_(fuse(network)) {
    for (const model::Operation& operation : net_.operations()) {
      values_.emplace_back().shape = operation.shape;
    }
    Step step;
    step.batch = batch_;
    step.variant = variant_;
    quantize(Floats(images.begin(), images.end()), step, values_[net_.input()]);
  }

  std::size_t batch() const { return batch_; }

  const Floats& run_forward() {
    for (const Fused& fused : fused_) {
      Step step = make_step(fused, nullptr);
      visit(fused, [&](const auto& kind) { forward(kind, step); });
      if (!fused.relu) continue;
      for (std::int64_t& q : step.y->q) q = std::max<std::int64_t>(q, 0);
    }
    return values_.back().floats;
  }

  Floats run_backward(const Floats& top) {
    Floats gradient(parameters_.size(), 0.0f);
    values_.back().gradient = top;
    for (std::size_t i = fused_.size(); i-- > 0;) {
      const Fused& fused = fused_[i];
      Step step = make_step(fused, gradient.data());
      Floats g = step.y->gradient;
      if (fused.relu) {
        for (std::size_t e = 0; e < g.size(); ++e) g[e] = step.y->q[e] > 0 ? g[e] : 0.0f;
      }
      if (fused.residual) values_[*fused.residual].add_gradient(g);
      visit(fused, [&](const auto& kind) { backward(kind, step, g); });
    }
    return gradient;
  }

 private:
  template <class Visit>
  void visit(const Fused& fused, Visit visit) const {
    std::visit(
        [&](const auto& kind) {
          if constexpr (kSupported<std::remove_cvref_t<decltype(kind)>>) {
            visit(kind);
          } else {
            std::abort();
          }
        },
        net_.operations()[fused.operation].kind);
  }

  Step make_step(const Fused& fused, float* gradient) {
    const model::Operation& operation = net_.operations()[fused.operation];
    Step step{.index = fused.operation,
              .batch = batch_,
              .key = key_,
              .variant = variant_,
              .x = &values_[operation.inputs[0]],
              .y = &values_[fused.output],
              .residual = fused.residual ? &values_[*fused.residual] : nullptr,
              .w = {},
              .dw = {},
              .reads_images = operation.inputs[0] == net_.input(),
              .is_last = fused.output + 1 == values_.size()};
    for (std::size_t i : operation.parameters) {
      const std::size_t offset = net_.layout().segments()[i].offset;
      step.w.push_back(parameters_.data() + offset);
      if (gradient != nullptr) step.dw.push_back(gradient + offset);
    }
    return step;
  }

  const model::Network& net_;
  std::span<const float> parameters_;
  std::size_t batch_;
  const StreamKey* key_;
  Int8Variant variant_;
  std::vector<Fused> fused_;
  std::vector<Value> values_;
};

/// The mean loss of the batch, in double; sets its gradient. The losses of a chunk are summed
/// first.
double loss_of(const Loss& loss, const Floats& outputs, std::size_t batch, const Targets& targets,
               Floats& gradient) {
  assert(loss.kind != Loss::Kind::kHuber);
  const std::size_t width = outputs.size() / batch;
  const double share = 1 / static_cast<double>(loss.of_numbers() ? outputs.size() : batch);
  double total = 0, of_chunk = 0;
  for (std::size_t n = 0; n < batch; ++n) {
    std::vector<double> row;
    for (std::size_t k = 0; k < width; ++k) {
      row.push_back(static_cast<double>(outputs[n * width + k]));
    }
    const double most = *std::ranges::max_element(row);
    double sum = 0;
    for (double y : row) sum += std::exp(y - most);
    if (!loss.of_numbers()) of_chunk += std::log(sum) + most - row[targets.labels[n]];
    for (std::size_t k = 0; k < width; ++k) {
      if (loss.of_numbers()) {
        const double e = row[k] - static_cast<double>(targets.numbers[n * width + k]);
        of_chunk += e * e;
        gradient.push_back(static_cast<float>(2 * e * share));
      } else {
        const double p = std::exp(row[k] - most) / sum;
        gradient.push_back(static_cast<float>((p - (k == targets.labels[n] ? 1 : 0)) * share));
      }
    }
    if ((n + 1) % kChunk == 0 || n + 1 == batch) total += std::exchange(of_chunk, 0.0) * share;
  }
  return total;
}

}  // namespace

Int8Outcome int8_reference(const model::Network& network, std::span<const float> parameters,
                           std::span<const float> images, const Targets& targets,
                           const StreamKey& key, const Loss& loss, Int8Variant variant) {
  Pass pass(network, parameters, images, &key, variant);
  Int8Outcome outcome;
  outcome.logits = pass.run_forward();
  Floats top;
  outcome.loss = loss_of(loss, outcome.logits, pass.batch(), targets, top);
  outcome.gradient = pass.run_backward(top);
  return outcome;
}

std::vector<float> int8_reference_outputs(const model::Network& network,
                                          std::span<const float> parameters,
                                          std::span<const float> images, Int8Variant variant) {
  return Pass(network, parameters, images, nullptr, variant).run_forward();
}

}  // namespace hearsay::engine
