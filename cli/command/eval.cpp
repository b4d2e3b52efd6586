#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "hearsay/backend/device.h"
#include "hearsay/core/error.h"
#include "hearsay/run/evaluation.h"
#include "hearsay/train/safetensors.h"

namespace hearsay::cli {

namespace {

struct EvalOptions {
  std::string file, model, data, task, device, threads, predictions;
};

/// The settings of an evaluation: what the user gives, else what the file says of itself, else what
/// its run directory says.
train::RunOptions settings_of(const EvalOptions& options,
                              const std::optional<model::Description>& description,
                              const std::optional<train::RunOptions>& of_run) {
  train::RunOptions config = of_run.value_or(train::RunOptions());
  if (description && !of_run) {
    config.model = description->model;
    config.task = description->task;
    config.loss = description->loss;
  }
  if (!options.model.empty()) config.set("model", options.model);
  if (!options.task.empty()) {
    config.set("task", options.task);
    config.loss = "auto";
  }
  if (!options.data.empty()) {
    config.set("data", description ? run::fitted_data(options.data, *description) : options.data);
    config.validation = 0;  // the held-out part belongs to the run's own data
  }
  config.set("device", options.device.empty() ? "cpu" : options.device);
  if (!options.threads.empty()) config.set("threads", options.threads);
  return of_run ? config : train::resolve(config);
}

int eval_command(const EvalOptions& options) {
  std::error_code error;
  if (!std::filesystem::exists(options.file, error)) {
    throw InvalidArgument(fmt::format("[eval] there is no file '{}'", options.file));
  }
  const auto description = train::read_description(options.file);
  const bool all_said = (description || !options.model.empty()) && !options.data.empty();
  std::optional<train::RunOptions> of_run;
  if (!all_said) of_run = run::settings_of_export(options.file);
  if (!of_run && !all_said) {
    throw InvalidArgument(
        fmt::format("[eval] {} does not lie in the models/ of a run directory; give {}--data",
                    options.file, description ? "" : "--model and "));
  }
  const train::RunOptions config = settings_of(options, description, of_run);
  const run::Evaluation evaluation = run::evaluate_file(options.file, config, options.predictions);
  const engine::Score& score = evaluation.score;
  const auto line = [](const std::string& name, double value, std::string_view unit = "") {
    fmt::print("{:<22} {:.6g}{}{}\n", name, value, unit.empty() ? "" : " ", unit);
  };
  const auto lines = [&](const char* before, const std::vector<double>& values) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      const engine::Metric& metric = evaluation.metrics[k];
      line(fmt::format("{}{}", before, metric.name), values[k], metric.unit);
    }
  };
  fmt::print("{} on {}: {} parameters{}{}\n", config.model, config.data, evaluation.parameters,
             evaluation.samples > 0 ? fmt::format(", {} test samples", evaluation.samples) : "",
             evaluation.estimated ? ", running statistics estimated on training samples" : "");
  for (const std::string& assumption : evaluation.assumptions) fmt::print("note: {}\n", assumption);
  if (!description && !options.data.empty()) {
    fmt::print(
        "note: the file does not say how its inputs were normalized; they are normalized as "
        "a model trained on {} would see them\n",
        config.data);
  }
  if (of_run && of_run->precision == "int8" &&
      backend::device_registry().arguments(config.device).text("precision") != "int8") {
    fmt::print("computed in {}; the run was in int8, and --device cpu:precision=int8 repeats it\n",
               backend::device_registry().arguments(config.device).text("precision"));
  }
  lines("", score.values);
  line("loss", score.loss);
  lines("validation ", score.validation_values);
  if (score.validation_loss) line("validation loss", *score.validation_loss);
  return 0;
}

}  // namespace

Action add_eval(CLI::App& app) {
  CLI::App* command = app.add_subcommand("eval", "Score a saved model on test data");
  auto options = std::make_shared<EvalOptions>();
  command->add_option("file", options->file, "a model that was exported, by hearsay or elsewhere")
      ->required()
      ->type_name("MODEL.safetensors");
  command
      ->add_option("--model", options->model,
                   "what it is; default: what it says itself, or its run directory")
      ->type_name("SPEC");
  command->add_option("--data", options->data, "dataset; default: that of its run directory")
      ->type_name("SPEC");
  command
      ->add_option("--task", options->task,
                   "classification or regression; default: as the file or its run directory says")
      ->type_name("TASK");
  command->add_option("--device", options->device, "where to compute; default: cpu")
      ->type_name("SPEC");
  command
      ->add_option("--predictions", options->predictions,
                   "write what it predicts for every test sample there, as CSV")
      ->type_name("FILE");
  command->add_option("--threads", options->threads, "worker threads; 0: one per core")
      ->type_name("K");
  return [options] { return eval_command(*options); };
}

}  // namespace hearsay::cli
