#pragma once

#include <filesystem>
#include <optional>

#include "hearsay/engine/objective.h"
#include "hearsay/train/run_options.h"

namespace hearsay::run {

/// The score of a saved model.
struct Evaluation {
  engine::Score score;
  std::vector<engine::Metric> metrics{};  ///< describe its values
  std::size_t parameters = 0;
  bool estimated = false;  ///< the file has no running statistics: estimated on training samples
};

/// Evaluates a safetensors file with the model and on the data that `config` (resolved) names.
/// Throws as `read_safetensors`.
Evaluation evaluate_file(const std::filesystem::path& file, const train::RunOptions& config);

/// The settings of the run that exported the file: those of RUN/config.toml for a file in
/// RUN/models, else none.
std::optional<train::RunOptions> settings_of_export(const std::filesystem::path& file);

}  // namespace hearsay::run
