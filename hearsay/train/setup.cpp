#include "hearsay/train/setup.h"

#include "hearsay/engine/objectives.h"
#include "hearsay/engine/train_only.h"
#include "hearsay/train/init.h"

namespace hearsay::train {

namespace {

gossip::MakeOptimizer optimizer_of(const RunOptions& config, const RunParts& parts) {
  if (parts.optimizer) return parts.optimizer;
  return [spec = config.optimizer](backend::Kernels& kernels, std::size_t rows, std::size_t dim) {
    return gossip::make_optimizer(spec, kernels, rows, dim);
  };
}

}  // namespace

/// Sampled over a run of a thousand epochs.
bool is_constant(const gossip::LearningRate& rate) {
  constexpr double kEpochs = 1000;
  for (double epoch = 0; epoch < kEpochs; epoch += 0.5) {
    if (rate.at(epoch, kEpochs) != rate.at(0, kEpochs)) return false;
  }
  return true;
}

std::unique_ptr<graph::Schedule> make_schedule(const RunOptions& config, const RunParts& parts) {
  const graph::GraphContext context{config.peers, config.seed};
  return parts.schedule ? parts.schedule(context) : graph::make_schedule(config.graph, context);
}

std::unique_ptr<engine::Objective> make_objective(const RunOptions& config, const RunParts& parts,
                                                  std::size_t peers, gossip::Machine& machine) {
  const transport::Placement placement{peers, machine.group().processes()};
  transport::check_placement(placement);
  const std::size_t rank = machine.group().rank();
  const bool has_init = config.init != "none";
  const engine::ObjectiveContext context{.peers = peers,
                                         .first = placement.first(rank),
                                         .rows = placement.rows(rank),
                                         .seed = config.seed,
                                         .pool = machine.pool(),
                                         .kernels = machine.kernels(),
                                         .model = config.model,
                                         .task = config.task,
                                         .loss = config.loss,
                                         .partition = config.partition,
                                         .classes = config.classes,
                                         .mean = config.mean,
                                         .deviation = config.deviation,
                                         .augment = config.augment,
                                         .validation = config.validation,
                                         .batch = config.batch,
                                         .estimates = machine.group().leads() || has_init};
  if (parts.objective) return parts.objective(context);
  auto objective = engine::make_objective(config.data, context);
  if (config.train_only == "all") return objective;
  std::vector<float> start(objective->layout().dim());
  if (has_init) {
    start = load_init(config.init, objective->layout(), objective->buffer_layout()).parameters;
  } else {
    objective->initial_model(0, start);
  }
  return engine::train_only(std::move(objective), config.train_only, start, context);
}

gossip::DriverParts make_driver_parts(const RunOptions& config, const RunParts& parts,
                                      const engine::Objective& objective,
                                      const gossip::LearningRate& rate) {
  return {.layout = objective.layout(),
          .schedule = {},
          .method = parts.method ? *parts.method : algorithm::make_method(config.algorithm),
          .compressor =
              parts.compressor ? parts.compressor() : compress::make_compressor(config.compressor),
          .optimizer = optimizer_of(config, parts),
          .link = config.link,
          .robust = config.robust,
          .liars = config.liars,
          .seed = config.seed,
          .rounds_per_epoch = objective.rounds_per_epoch(),
          .constant_rate = is_constant(rate),
          .graph_name = config.graph,
          .compressor_name = config.compressor};
}

}  // namespace hearsay::train
