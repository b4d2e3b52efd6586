#include "hearsay/run/evaluation.h"

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"
#include "hearsay/data/partition.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/gossip/machine.h"
#include "hearsay/train/safetensors.h"

namespace hearsay::run {

namespace fs = std::filesystem;

namespace {

/// A model that does not fit may be of a version that counted the classes of npz files from 0 on.
train::SavedModel read_model(const fs::path& file, const engine::Objective& objective,
                             const train::RunOptions& config) {
  try {
    return train::read_safetensors(file, objective.layout(), objective.buffer_layout());
  } catch (const InvalidArgument& error) {
    const std::vector<std::string> names = objective.class_names();
    if (spec_name(config.data) != "npz" || names.empty()) throw;
    throw InvalidArgument(fmt::format(
        "{}; the labels of these data are {} to {}: for a model of an older version, which counted "
        "them from 0 on, give --data {},first=0",
        error.what(), names.front(), names.back(), config.data));
  }
}

}  // namespace

Evaluation evaluate_file(const fs::path& file, const train::RunOptions& config) {
  gossip::Machine machine(config.device, config.threads);
  // On a dataset, one peer that holds everything; a closed-form problem depends on the number of
  // peers.
  const bool dataset = config.model != "none";
  const bool is_own = config.partition == data::kOwnPartition;  // with the classes of the fleet
  const auto objective =
      engine::make_objective(config.data, {.peers = dataset ? 1 : config.peers,
                                           .first = 0,
                                           .rows = 1,
                                           .seed = config.seed,
                                           .pool = machine.pool(),
                                           .kernels = machine.kernels(),
                                           .model = config.model,
                                           .task = config.task,
                                           .loss = config.loss,
                                           .partition = is_own ? config.partition : "iid",
                                           .classes = config.classes,
                                           .mean = config.mean,
                                           .deviation = config.deviation,
                                           .augment = "none",
                                           .validation = config.validation,
                                           .batch = config.batch});
  train::SavedModel saved = read_model(file, *objective, config);
  Evaluation evaluation{.score = {}, .parameters = saved.parameters.size(), .estimated = false};
  evaluation.metrics.assign(objective->metrics().begin(), objective->metrics().end());
  if (saved.buffers.empty() && objective->buffer_layout().dim() > 0) {
    saved.buffers = objective->estimate_buffers(saved.parameters);
    evaluation.estimated = true;
  }
  evaluation.score = objective->evaluate(saved.parameters, saved.buffers);
  return evaluation;
}

std::optional<train::RunOptions> settings_of_export(const fs::path& file) {
  std::error_code error;
  const fs::path directory = fs::absolute(file).lexically_normal().parent_path();
  const fs::path settings = directory.parent_path() / "config.toml";
  if (directory.filename() != "models" || !fs::exists(settings, error)) return {};
  return train::options_of_run(settings.parent_path());
}

}  // namespace hearsay::run
