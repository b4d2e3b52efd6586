#include "hearsay/engine/objectives.h"

#include <utility>
#include <vector>

#include "hearsay/core/registry.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/partition.h"
#include "hearsay/data/share.h"
#include "hearsay/data/validation.h"
#include "hearsay/engine/batches.h"
#include "hearsay/engine/closed_form/consensus.h"
#include "hearsay/engine/closed_form/least_squares.h"
#include "hearsay/engine/closed_form/logistic.h"
#include "hearsay/engine/network_objective.h"
#include "hearsay/engine/on_host.h"
#include "hearsay/model/models.h"

namespace hearsay::engine {

namespace {

constexpr ObjectiveEntry kRegistry[] = {
    {"consensus", "consensus:dim=10", "no gradient: pure averaging of random vectors",
     kConsensusParameters, make_consensus},
    {"least-squares", "least-squares:heterogeneity=1,noise=0.01",
     "quadratics that differ from peer to peer, with a known optimum", kLeastSquaresParameters,
     make_least_squares},
    {"logistic", "logistic:heterogeneity=0.1,noise=0.01",
     "binary logistic regression on made-up data, with a known optimum", kLogisticParameters,
     make_logistic},
};

struct Name {
  std::string_view name;
};

}  // namespace

std::span<const ObjectiveEntry> objective_registry() { return kRegistry; }

std::unique_ptr<Objective> make_objective(std::string_view spec, const ObjectiveContext& context) {
  std::vector<Name> names;
  for (const ObjectiveEntry& entry : objective_registry()) names.push_back({entry.name});
  for (const auto& entry : data::dataset_registry()) names.push_back({entry.name});
  const std::string_view name = find_entry(std::span<const Name>(names), spec, "data").name;

  for (const ObjectiveEntry& entry : objective_registry()) {
    if (entry.name != name) continue;
    return on_host(entry.make(Arguments(spec, entry.parameters), context), context);
  }
  auto dataset = data::hold_out(data::make_dataset(spec), context.validation, context.seed);
  auto parts = data::partition(context.partition, dataset->train.labels, dataset->classes,
                               context.peers, context.seed);
  auto network = model::make_model(
      context.model, {dataset->channels, dataset->height, dataset->width}, dataset->classes);
  auto augmentation = data::make_augmentation(context.augment, *dataset);
  std::vector<std::uint32_t> statistics;
  if (context.estimates && network.buffers().dim() > 0) {
    statistics = statistics_samples(context.seed, parts, context.batch);
  }
  data::Share share = data::take_share(std::move(dataset), std::move(parts), context.first,
                                       context.rows, std::move(statistics));
  return make_network_objective(std::move(share), std::move(network), std::move(augmentation),
                                context);
}

}  // namespace hearsay::engine
