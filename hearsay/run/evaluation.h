#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hearsay/engine/objective.h"
#include "hearsay/model/description.h"
#include "hearsay/train/run_options.h"

namespace hearsay::run {

/// The score of a saved model.
struct Evaluation {
  engine::Score score;
  std::vector<engine::Metric> metrics{};  ///< describe its values
  std::size_t parameters = 0;
  std::size_t samples = 0;  ///< of the test part; 0 for a closed-form problem
  bool estimated = false;   ///< the file has no running statistics: estimated on training samples
  std::vector<std::string> assumptions{};  ///< of data::conform
};

/// Evaluates a safetensors file with the model and on the data that `config` (resolved) names. If
/// the file says how its inputs are normalized and what its outputs mean (model/description.h), the
/// data is read so. If `predictions` is not empty, the outputs on the test part are written there
/// (predictions.h). Throws as `read_safetensors` and `data::conform`.
Evaluation evaluate_file(const std::filesystem::path& file, const train::RunOptions& config,
                         const std::filesystem::path& predictions = {});

/// The settings of the run that exported the file: those of RUN/config.toml for a file in
/// RUN/models, else none.
std::optional<train::RunOptions> settings_of_export(const std::filesystem::path& file);

/// What exports of a run (resolved) say of their model; none if it trains no network. Reads its
/// data.
std::optional<model::Description> describe_run(const train::RunOptions& config);

/// The spec of a dataset, for a model of that input: where `size`, the pixels a side that pictures
/// are scaled to, is not given, it is the model's.
std::string fitted_data(const std::string& data, const model::Description& description);

}  // namespace hearsay::run
