#include "hearsay/engine/objectives.h"

#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/memory.h"
#include "hearsay/data/agreement.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/partition.h"
#include "hearsay/data/share.h"
#include "hearsay/data/targets.h"
#include "hearsay/data/validation.h"
#include "hearsay/engine/batches.h"
#include "hearsay/engine/closed_form/consensus.h"
#include "hearsay/engine/closed_form/least_squares.h"
#include "hearsay/engine/closed_form/logistic.h"
#include "hearsay/engine/loss.h"
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

/// Throws InvalidArgument if the models with their gradients, or what the backward pass of one
/// minibatch needs of every convolution and linear layer, are more than this machine can hold.
void check_memory(const model::Network& network, const ObjectiveContext& context) {
  const std::size_t dim = network.layout().dim();
  require_memory(8 * static_cast<double>(dim) * static_cast<double>(context.rows), context.model,
                 fmt::format("its {} parameters and their gradient at each of {} peers: take a "
                             "smaller --model or fewer --peers",
                             dim, context.rows));
  double values = 0;
  for (const model::Operation& operation : network.operations()) {
    const bool multiplies = std::holds_alternative<model::Conv2d>(operation.kind) ||
                            std::holds_alternative<model::Linear>(operation.kind);
    if (multiplies) values += static_cast<double>(operation.shape.size());
  }
  const double width = context.kernels.precision() == backend::Precision::kInt8 ? 1 : 4;
  require_memory(width * values * static_cast<double>(context.batch), "batch",
                 fmt::format("the activations of {} samples: take a smaller --batch or --model",
                             context.batch));
}

}  // namespace

Registry<ObjectiveEntry> objective_registry() { return {"data", kRegistry}; }

void check_data(std::string_view spec) {
  if (objective_registry().contains(spec)) {
    objective_registry().arguments(spec);
  } else if (data::dataset_registry().contains(spec)) {
    data::dataset_registry().arguments(spec);
  } else {
    std::vector<std::string_view> names;
    for (const ObjectiveEntry& entry : objective_registry()) names.push_back(entry.name);
    for (const auto& entry : data::dataset_registry()) names.push_back(entry.name);
    reject_name("data", spec_name(spec), names);
  }
}

std::unique_ptr<Objective> make_objective(std::string_view spec, const ObjectiveContext& context) {
  const std::string_view name = spec_name(spec);
  check_data(spec);
  if (objective_registry().contains(name)) {
    return on_host(objective_registry().make(spec, context), context);
  }
  const data::Task task = data::parse_task(context.task);
  const Loss loss = make_loss(context.loss == "auto" ? default_loss(task) : context.loss, task);
  const bool is_own = context.partition == data::kOwnPartition;
  auto dataset = data::make_dataset(spec, task);
  if (is_own) {
    if (context.rows != 1) {
      throw InvalidArgument(
          "[partition] own means that each device has data of its own: it is for hearsay peer; "
          "here give one of those that hearsay list partitions prints");
    }
    dataset = data::adopt(dataset,
                          data::parse_agreement(context.classes, context.mean, context.deviation));
  }
  if (context.adapt) dataset = context.adapt(std::move(dataset));
  dataset = data::hold_out(std::move(dataset), context.validation, context.seed);
  if (dataset->classes == 1) {
    throw InvalidArgument(fmt::format(
        "[{}] has samples of one class only; there must be at least 2 to tell apart", name));
  }
  auto parts = is_own ? data::own_partition(context.peers, context.first, dataset->train.size())
               : task == data::Task::kClassification
                   ? data::partition(context.partition, dataset->train.labels(), dataset->classes,
                                     context.peers, context.seed)
                   : data::partition(context.partition, data::target_tenths(dataset->train),
                                     data::kTenths, context.peers, context.seed);
  auto network = model::make_model(
      context.model, {dataset->channels, dataset->height, dataset->width}, dataset->outputs());
  if (context.kernels.on_host()) check_memory(network, context);  // a device does so itself
  auto augmentation = data::make_augmentation(context.augment, *dataset);
  std::vector<std::uint32_t> statistics;
  if (context.estimates && network.buffers().dim() > 0) {
    statistics = statistics_samples(context.seed, parts, context.batch);
  }
  data::Share share = data::take_share(std::move(dataset), std::move(parts), context.first,
                                       context.rows, std::move(statistics));
  return make_network_objective(std::move(share), std::move(network), std::move(augmentation), loss,
                                context);
}

}  // namespace hearsay::engine
