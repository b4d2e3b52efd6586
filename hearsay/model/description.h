#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/model/operation.h"

namespace hearsay::model {

/// What one must know of a saved model besides its tensors to use it: what it is, what goes in and
/// what comes out. Exports carry it (train/safetensors.h, onnx/onnx.h), so that they need neither
/// the run directory nor the data.
struct Description {
  std::string model;  ///< a spec of model_registry()
  Shape input;
  /// For an entry p of channel c, as the data files have it, the network sees slope(c) p +
  /// offset(c).
  float scale = 1;
  std::vector<float> mean{}, deviation{};  ///< one per channel
  std::vector<std::string> features{};     ///< names of the channels, if the data has any

  std::string task;  ///< "classification" or "regression"
  std::string loss;  ///< a spec
  std::size_t outputs = 0;
  std::vector<std::string> classes{};  ///< names, if the data has any
  /// Of a regression, one per output: the numbers predicted are target_mean + target_deviation
  /// (output).
  std::vector<std::string> targets{};  ///< names, if the data has any
  std::vector<float> target_mean{}, target_deviation{};

  std::string version{};  ///< of the hearsay that wrote it

  bool regression() const { return task == "regression"; }
  float slope(std::size_t channel) const { return scale / deviation[channel]; }
  float offset(std::size_t channel) const { return -mean[channel] / deviation[channel]; }
  /// The name of an output: "setosa", or its number if it has none.
  std::string output_name(std::size_t k) const;
};

/// As JSON, in one line; docs/models.md lists the members.
std::string to_json(const Description& description);

/// The inverse. Nothing in `text` is trusted: throws CorruptData, with a text that continues "its
/// description ...", for anything that no version of hearsay writes, and for what is newer than
/// this one.
Description parse_description(std::string_view text);

}  // namespace hearsay::model
