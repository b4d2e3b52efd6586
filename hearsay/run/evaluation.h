#pragma once

#include <filesystem>

#include "hearsay/engine/objective.h"
#include "hearsay/train/config.h"

namespace hearsay::run {

/// What a saved model is worth.
struct Evaluation {
  engine::Score score;
  std::vector<engine::Metric> metrics{};  ///< of its values
  std::size_t parameters = 0;
  bool estimated = false;  ///< the file has no running statistics: they are of training samples
};

/// The score of a safetensors file on the data and as the model that `config` (resolved) names.
/// Throws as `read_safetensors`.
Evaluation evaluate_file(const std::filesystem::path& file, const train::Config& config);

/// The settings of the run that exported the file: those of RUN/config.toml for a file in
/// RUN/models, else the fallbacks.
train::Config settings_of_export(const std::filesystem::path& file);

}  // namespace hearsay::run
