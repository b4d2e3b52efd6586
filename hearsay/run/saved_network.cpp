#include "hearsay/run/saved_network.h"

#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/model/models.h"
#include "hearsay/run/evaluation.h"

namespace hearsay::run {

namespace fs = std::filesystem;

namespace {

model::Description description_of(const fs::path& file) {
  if (auto description = train::read_description(file)) return *description;
  const auto config = settings_of_export(file);
  if (!config) {
    throw InvalidArgument(fmt::format(
        "[export] {} does not say what model it is, and does not lie in the models/ of a run "
        "directory; hearsay train --init FILE --model SPEC --data SPEC writes one that says it",
        file.string()));
  }
  if (auto description = describe_run(*config)) return *description;
  throw InvalidArgument(fmt::format("[export] {} is of a run on {}, which trains no network",
                                    file.string(), config->data));
}

}  // namespace

SavedNetwork load_network(const fs::path& file) {
  model::Description description = description_of(file);
  model::Network network =
      model::make_model(description.model, description.input, description.outputs);
  train::SavedModel model = train::read_safetensors(file, network.layout(), network.buffers());
  if (model.buffers.size() != network.buffers().dim()) {
    throw InvalidArgument(
        fmt::format("[export] {} has no running statistics, which the batch norm of {} needs; "
                    "export a model that hearsay wrote at the end of a run",
                    file.string(), description.model));
  }
  return {std::move(description), std::move(network), std::move(model)};
}

}  // namespace hearsay::run
