#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "hearsay/backend/device.h"
#include "hearsay/core/error.h"
#include "hearsay/run/evaluation.h"

namespace hearsay::cli {

namespace {

struct EvalOptions {
  std::string file, model, data, task, device, threads;
};

int eval_command(const EvalOptions& options) {
  std::error_code error;
  if (!std::filesystem::exists(options.file, error)) {
    throw InvalidArgument(fmt::format("[eval] there is no file '{}'", options.file));
  }
  const bool all_said = !options.model.empty() && !options.data.empty();
  std::optional<train::RunOptions> of_run;
  if (!all_said) of_run = run::settings_of_export(options.file);
  if (!of_run && !all_said) {
    throw InvalidArgument(fmt::format(
        "[eval] {} does not lie in the models/ of a run directory; give --model and --data",
        options.file));
  }
  train::RunOptions config = of_run.value_or(train::RunOptions());
  if (!options.model.empty()) config.set("model", options.model);
  if (!options.task.empty()) {
    config.set("task", options.task);
    config.loss = "auto";
  }
  if (!options.data.empty()) {
    config.set("data", options.data);
    config.validation = 0;  // the held-out part belongs to the run's own data
  }
  config.set("device", options.device.empty() ? "cpu" : options.device);
  if (!options.threads.empty()) config.set("threads", options.threads);
  if (!of_run) config = train::resolve(config);

  const run::Evaluation evaluation = run::evaluate_file(options.file, config);
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
  fmt::print("{} on {}: {} parameters{}\n", config.model, config.data, evaluation.parameters,
             evaluation.estimated ? ", running statistics estimated on training samples" : "");
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
  command->add_option("--model", options->model, "what it is; default: that of its run directory")
      ->type_name("SPEC");
  command->add_option("--data", options->data, "dataset; default: that of its run directory")
      ->type_name("SPEC");
  command
      ->add_option("--task", options->task,
                   "classification or regression; default: that of its "
                   "run directory, or classification")
      ->type_name("TASK");
  command->add_option("--device", options->device, "where to compute; default: cpu")
      ->type_name("SPEC");
  command->add_option("--threads", options->threads, "worker threads; 0: one per core")
      ->type_name("K");
  return [options] { return eval_command(*options); };
}

}  // namespace hearsay::cli
