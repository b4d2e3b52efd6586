#include "hearsay/cost/cost.h"

#include <variant>
#include <vector>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/compress/code/message.h"
#include "hearsay/compress/compressor.h"
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

struct Sample {
  double multiply_adds = 0, activations = 0;
};

Sample of_one_sample(const model::Network& network) {
  Sample sample{.multiply_adds = static_cast<double>(network.multiplications())};
  for (const model::Operation& operation : network.operations()) {
    const double values = static_cast<double>(operation.shape.size());
    if (is_norm(operation.kind)) sample.multiply_adds += 2 * values;
    if (is_kept(operation.kind)) sample.activations += values;
  }
  return sample;
}

}  // namespace

Cost cost_of(const model::Network& network, const Task& task, std::string_view energy) {
  const Sample sample = of_one_sample(network);
  const double batch = static_cast<double>(task.batch);
  const double model =
      static_cast<double>(task.arrays) * static_cast<double>(network.layout().dim());
  Cost cost{.batch = task.batch,
            .model_bytes = 4 * model,
            .activation_bytes = 4 * batch * sample.activations,
            .multiply_adds = batch * sample.multiply_adds,
            .sent_bytes = task.sent_bytes,
            .received_bytes = task.received_bytes,
            .energy = {}};
  cost.energy = energy_of(energy, {.multiply_adds = 3 * cost.multiply_adds,
                                   .words = 5 * batch * sample.activations + 2 * model,
                                   .bytes = task.sent_bytes + task.received_bytes});
  return cost;
}

std::size_t arrays_of(std::string_view algorithm, std::string_view optimizer,
                      std::size_t in_degree) {
  const algorithm::Footprint footprint = algorithm::registry().find(algorithm).footprint;
  const gossip::OptimizerEntry& entry = gossip::optimizer_registry().find(optimizer);
  return 2 + entry.arrays + footprint.kept + (footprint.public_copies ? in_degree : 0);
}

double vector_bytes(std::string_view compressor, const Layout& layout) {
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
