#include "hearsay/cost/cost.h"

#include <variant>
#include <vector>

#include <fmt/format.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/compress/code/message.h"
#include "hearsay/compress/compressor.h"
#include "hearsay/core/memory.h"
#include "hearsay/gossip/optimizer.h"

namespace hearsay::cost {

namespace {

template <class... Kinds>
bool is_one_of(const model::Kind& kind) {
  return (std::holds_alternative<Kinds>(kind) || ...);
}

bool is_norm(const model::Kind& kind) {
  using namespace model;
  return is_one_of<BatchNorm, GroupNorm, LayerNorm, EvoNorm, RangeEvoNorm>(kind);
}

bool is_kept(const model::Kind& kind) {
  using namespace model;
  return is_norm(kind) || is_one_of<Conv2d, Linear, Add, MaxPool, GlobalAveragePool, Dropout>(kind);
}

/// The columns of the table in cost.h.
struct Widths {
  double activation, gradient, scale, code;  ///< bytes
  double weight_products;
  double bits;  ///< of a product's factors
};
Widths widths_of(backend::Precision precision) {
  switch (precision) {
    case backend::Precision::kFp32:
      return {
          .activation = 4, .gradient = 4, .scale = 0, .code = 0, .weight_products = 1, .bits = 32};
    case backend::Precision::kTf32:
      return {
          .activation = 4, .gradient = 4, .scale = 0, .code = 0, .weight_products = 1, .bits = 16};
    case backend::Precision::kBf16:
      return {
          .activation = 2, .gradient = 2, .scale = 0, .code = 0, .weight_products = 1, .bits = 16};
    case backend::Precision::kInt8:
      break;
  }
  return {.activation = 1, .gradient = 2, .scale = 4, .code = 1, .weight_products = 2, .bits = 8};
}

struct Sample {
  double products = 0;                           ///< M
  double normed = 0;                             ///< N
  double activation_bytes = 0, moved_bytes = 0;  ///< a A + s, and what moves of them and gradients
};

Sample of_one_sample(const model::Network& network, backend::Precision precision) {
  const Widths w = widths_of(precision);
  Sample sample{.products = static_cast<double>(network.multiplications())};
  for (const model::Operation& operation : network.operations()) {
    const double values = static_cast<double>(operation.shape.size());
    if (is_norm(operation.kind)) sample.normed += values;
    if (!is_kept(operation.kind)) continue;
    const bool stays_float =
        precision == backend::Precision::kInt8 && &operation == &network.operations().back();
    const double bytes = stays_float ? 4 * values : w.activation * values + w.scale;
    sample.activation_bytes += bytes;
    sample.moved_bytes += 3 * bytes + 2 * w.gradient * values;
  }
  return sample;
}

/// W
double weights_of(const model::Network& network) {
  double sum = 0;
  for (const model::Operation& operation : network.operations()) {
    if (!is_one_of<model::Conv2d, model::Linear>(operation.kind)) continue;
    sum += static_cast<double>(network.layout().segments()[operation.parameters[0]].size);
  }
  return sum;
}

Effort effort_of(const Cost& cost, double moved_bytes) {
  Effort effort{.multiply_adds = 3 * cost.norm_multiply_adds,
                .words = moved_bytes / 4,
                .bytes = cost.sent_bytes + cost.received_bytes};
  const double bits = widths_of(cost.precision).bits;
  (bits == 32   ? effort.multiply_adds
   : bits == 16 ? effort.multiply_adds16
                : effort.multiply_adds8) += cost.training_products;
  return effort;
}

}  // namespace

double Cost::weighted_multiply_adds() const {
  return widths_of(precision).bits / 32 * products + norm_multiply_adds;
}

double Cost::weighted_training_multiply_adds() const {
  return widths_of(precision).bits / 32 * training_products + 3 * norm_multiply_adds;
}

backend::Precision parse_precision(std::string_view name) {
  using backend::Precision;
  for (Precision p : {Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kInt8}) {
    if (backend::name_of(p) == name) return p;
  }
  throw InvalidArgument(
      fmt::format("[precision] must be fp32, tf32, bf16 or int8, got '{}'", name));
}

Cost cost_of(const model::Network& network, const Task& task, std::string_view energy) {
  const Widths w = widths_of(task.precision);
  const Sample sample = of_one_sample(network, task.precision);
  const double batch = static_cast<double>(task.batch);
  Cost cost{.precision = task.precision,
            .batch = task.batch,
            .model_bytes =
                4 * static_cast<double>(task.arrays) * static_cast<double>(network.layout().dim()),
            .code_bytes = w.code * weights_of(network),
            .activation_bytes = batch * sample.activation_bytes,
            .products = batch * sample.products,
            .training_products = batch * (2 + w.weight_products) * sample.products,
            .norm_multiply_adds = batch * 2 * sample.normed,
            .sent_bytes = task.sent_bytes,
            .received_bytes = task.received_bytes,
            .energy = {}};
  const double moved = batch * sample.moved_bytes + 2 * (cost.model_bytes + cost.code_bytes);
  cost.energy = energy_of(energy, effort_of(cost, moved));
  return cost;
}

std::size_t arrays_of(std::string_view algorithm, std::string_view optimizer,
                      std::size_t in_degree) {
  const algorithm::Footprint footprint = algorithm::registry().find(algorithm).footprint;
  const gossip::OptimizerEntry& entry = gossip::optimizer_registry().find(optimizer);
  return 2 + entry.arrays + footprint.kept + (footprint.public_copies ? in_degree : 0);
}

double vector_bytes(std::string_view compressor, const Layout& layout) {
  require_memory(
      8 * static_cast<double>(layout.dim()), compressor,
      fmt::format("a vector of {} parameters and its code: take a smaller one", layout.dim()));
  std::vector<float> model(layout.dim());
  Random random(1, Purpose::kProblem);
  for (float& value : model) value = static_cast<float>(random.normal());
  compress::Decoded decoded;
  return static_cast<double>(
      compress::kHeaderBytes +
      compress::make_compressor(compressor)->compress(model, layout, random, decoded, nullptr));
}

double message_bytes(std::string_view algorithm, std::string_view compressor,
                     const Layout& layout) {
  const algorithm::Footprint footprint = algorithm::registry().find(algorithm).footprint;
  return static_cast<double>(footprint.sent) * vector_bytes(compressor, layout);
}

}  // namespace hearsay::cost
