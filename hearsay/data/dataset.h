#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/core/registry.h"
#include "hearsay/data/typed_array.h"

namespace hearsay::data {

/// What is learnt: the class of a sample, or numbers.
enum class Task { kClassification, kRegression };

/// "regression"; "classification" or "auto". Throws InvalidArgument for other words.
Task parse_task(std::string_view word);

/// Samples and their targets, one after the other.
struct Samples {
  /// Each in the order channel, row, column: u8, images as bytes, or f32, arbitrary numbers.
  TypedArray inputs{};
  /// u16, the class of each sample, or f32, the numbers to predict (targets.h).
  TypedArray targets{};
  std::size_t targets_each = 1;  ///< per sample; always 1 for classes

  std::size_t size() const { return targets.size() / targets_each; }
  /// Of a classification.
  const std::vector<std::uint16_t>& labels() const { return targets.as<std::uint16_t>(); }
  std::vector<std::uint16_t>& labels() { return targets.as<std::uint16_t>(); }
  std::span<const std::uint8_t> image(std::size_t i, std::size_t features) const {
    return {inputs.as<std::uint8_t>().data() + i * features, features};
  }
};

/// The samples i with chosen[i], in their order.
Samples subset(const Samples& from, const std::vector<bool>& chosen);

/// A classification or a regression problem. For an entry p of channel c a model sees (scale p -
/// mean[c]) / deviation[c]; augment.h reads samples that way. Immutable once made, so it may be
/// shared between threads and objectives.
struct Dataset {
  std::string name;
  std::size_t channels = 1;
  std::size_t height = 1;  ///< as the model sees it; height + 2 margin rows are stored
  std::size_t width = 1;
  std::size_t margin = 0;   ///< extra pixels stored on each of the four sides
  std::size_t classes = 0;  ///< 0: a regression
  float scale = 1;
  std::vector<float> mean{};       ///< one per channel; empty: 0
  std::vector<float> deviation{};  ///< one per channel; empty: 1
  Samples train{};
  Samples test{};
  Samples validation{};                    ///< empty unless held out from `train` (validation.h)
  std::vector<std::string> class_names{};  ///< if the files name them
  /// Of a regression, one per target: what a model learns is (t - target_mean) / target_deviation.
  std::vector<float> target_mean{}, target_deviation{};
  std::vector<std::string> channel_names{}, target_names{};  ///< columns of a table

  Task task() const { return classes > 0 ? Task::kClassification : Task::kRegression; }
  /// The outputs of a network: one per class, or one per target.
  std::size_t outputs() const { return classes > 0 ? classes : train.targets_each; }
  std::size_t features() const { return channels * height * width; }
  std::size_t stored_height() const { return height + 2 * margin; }
  std::size_t stored_width() const { return width + 2 * margin; }
  std::size_t stored_features() const { return channels * stored_height() * stored_width(); }
};

/// Whether a channel or a target varies by more than the rounding of floats of its size.
bool varies(double deviation, double mean);

/// The dataset with other training and validation samples.
std::shared_ptr<const Dataset> with_samples(const Dataset& dataset, Samples train,
                                            Samples validation);

/// One row of the registry. `source` says who made the data and under which licence.
struct DatasetEntry {
  std::string_view name;
  std::string_view example;
  std::string_view summary;
  std::string_view source;
  std::span<const Parameter> parameters;
  std::shared_ptr<const Dataset> (*make)(const Arguments&);
  // What a run on it uses by default:
  std::string_view model;                  ///< a spec of model::model_registry()
  std::string_view augmentation = "none";  ///< of training images
  std::uint64_t epochs = 30;
  /// The same with numbers as targets; null: its targets are classes.
  std::shared_ptr<const Dataset> (*make_regression)(const Arguments&) = nullptr;
  /// The number of training samples, without reading what takes long; null for published data, of
  /// which `epochs` are enough. Throws as `make` does, but finds fewer mistakes.
  std::size_t (*training_samples)(const Arguments&) = nullptr;
  /// The largest learning rate of networks without norms: inputs with small gradients bear more.
  double rate_without_norm = 0.01;
};

Registry<DatasetEntry> dataset_registry();

/// The row that a spec names, or null if that is not a dataset.
const DatasetEntry* find_dataset(std::string_view spec);

/// make_dataset("digits"), make_dataset("csv:homes.csv,target=price", Task::kRegression). All files
/// are read and checked here. Shared, because all peers of a process read the same images.
///
/// A path may contain ':'; one that contains '=' is written path=..., and ',' always ends it.
/// Throws InvalidArgument for unknown names, missing files and a task that the data is not for,
/// CorruptData for files with unexpected content; the text names the file, what was expected of it
/// and where it is published.
std::shared_ptr<const Dataset> make_dataset(std::string_view spec,
                                            Task task = Task::kClassification);

/// A hash of everything that a model sees: shape, samples, targets, normalisation, class names.
std::string sha256_of(const Dataset& dataset);

}  // namespace hearsay::data
