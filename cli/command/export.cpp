#include <filesystem>
#include <memory>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/model/onnx/onnx.h"
#include "hearsay/run/saved_network.h"

namespace hearsay::cli {

namespace {

struct ExportOptions {
  std::string file, onnx;
};

int export_command(const ExportOptions& options) {
  std::error_code error;
  if (!std::filesystem::exists(options.file, error)) {
    throw InvalidArgument(fmt::format("[export] there is no file '{}'", options.file));
  }
  const run::SavedNetwork saved = run::load_network(options.file);
  const model::Description& is = saved.description;
  write_user_file(options.onnx,
                  model::to_onnx(saved.network, is, saved.model.parameters, saved.model.buffers));
  const bool vector = is.input.pixels() == 1;
  fmt::print("{}: {}, {} parameters\n", options.onnx, is.model, saved.model.parameters.size());
  fmt::print("input       float N x {}: entries as the data files have them\n",
             vector ? fmt::format("{}", is.input.channels) : model::to_string(is.input));
  fmt::print("{:<11} float N x {}: {}\n", is.regression() ? "prediction" : "logits", is.outputs,
             is.regression() ? "in the unit of the targets" : "one per class");
  return 0;
}

}  // namespace

Action add_export(CLI::App& app) {
  CLI::App* command = app.add_subcommand("export", "Write a saved model in another format");
  auto options = std::make_shared<ExportOptions>();
  command->add_option("file", options->file, "a model that hearsay saved")
      ->required()
      ->type_name("MODEL.safetensors");
  command
      ->add_option("--onnx", options->onnx,
                   "the ONNX file to write, with the normalization of its inputs")
      ->required()
      ->type_name("FILE");
  return [options] { return export_command(*options); };
}

}  // namespace hearsay::cli
