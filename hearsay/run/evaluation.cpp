#include "hearsay/run/evaluation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"
#include "hearsay/data/conform.h"
#include "hearsay/data/partition.h"
#include "hearsay/engine/cpu/outputs.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/gossip/machine.h"
#include "hearsay/run/predictions.h"
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

/// On a dataset, one peer that holds everything; a closed-form problem depends on the number of
/// peers.
engine::ObjectiveContext context_of(const train::RunOptions& config, gossip::Machine& machine) {
  const bool is_own = config.partition == data::kOwnPartition;  // with the classes of the fleet
  return {.peers = config.model == "none" ? config.peers : 1,
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
          .batch = config.batch};
}

}  // namespace

Evaluation evaluate_file(const fs::path& file, const train::RunOptions& config,
                         const fs::path& predictions) {
  const std::optional<model::Description> description = train::read_description(file);
  gossip::Machine machine(config.device, config.threads);
  engine::ObjectiveContext context = context_of(config, machine);
  if (description) context.partition = "iid";  // it says what a fleet has agreed on
  Evaluation evaluation{.score = {}};
  std::shared_ptr<const data::Dataset> dataset;
  context.adapt = [&](std::shared_ptr<const data::Dataset> read) {
    if (description) {
      data::Conformed conformed = data::conform(std::move(read), *description);
      evaluation.assumptions = std::move(conformed.assumptions);
      read = std::move(conformed.dataset);
    }
    evaluation.samples = read->test.size();
    return dataset = std::move(read);
  };
  const auto objective = engine::make_objective(config.data, context);
  train::SavedModel saved = read_model(file, *objective, config);
  evaluation.parameters = saved.parameters.size();
  evaluation.metrics.assign(objective->metrics().begin(), objective->metrics().end());
  if (saved.buffers.empty() && objective->buffer_layout().dim() > 0) {
    saved.buffers = objective->estimate_buffers(saved.parameters);
    evaluation.estimated = true;
  }
  evaluation.score = objective->evaluate(saved.parameters, saved.buffers);
  if (predictions.empty()) return evaluation;
  const auto own = objective->description();
  if (!own || !dataset) {
    throw InvalidArgument(
        fmt::format("[eval] {} is no network, and predicts nothing", file.string()));
  }
  const bool int8 = machine.kernels().precision() == backend::Precision::kInt8;
  const auto outputs = engine::cpu::outputs_on(
      *dataset, dataset->test, *objective->network(), saved.parameters, saved.buffers,
      int8 ? backend::Precision::kInt8 : backend::Precision::kFp32, machine.pool());
  write_user_file(predictions, predictions_csv(dataset->test, *own, outputs));
  return evaluation;
}

std::optional<train::RunOptions> settings_of_export(const fs::path& file) {
  std::error_code error;
  const fs::path directory = fs::absolute(file).lexically_normal().parent_path();
  const fs::path settings = directory.parent_path() / "config.toml";
  if (directory.filename() != "models" || !fs::exists(settings, error)) return {};
  return train::options_of_run(settings.parent_path());
}

std::optional<model::Description> describe_run(const train::RunOptions& config) {
  gossip::Machine machine("cpu", config.threads);
  return engine::make_objective(config.data, context_of(config, machine))->description();
}

std::string fitted_data(const std::string& data, const model::Description& description) {
  constexpr std::string_view kSize = "size";
  const data::DatasetEntry* entry = data::find_dataset(data);
  if (entry == nullptr || description.input.height != description.input.width) return data;
  if (std::ranges::find(entry->parameters, kSize, &Parameter::key) == entry->parameters.end() ||
      Arguments(data, entry->parameters).given(kSize)) {
    return data;
  }
  return fmt::format("{},{}={}", data, kSize, description.input.width);
}

}  // namespace hearsay::run
