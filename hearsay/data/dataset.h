#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/core/registry.h"

namespace hearsay::data {

/// Labelled samples, one after the other, each in the order channel, row, column: images as bytes,
/// or arbitrary numbers (a user's own table). One of `pixels` and `values` is empty.
struct Samples {
  std::vector<std::uint8_t> pixels;
  std::vector<float> values{};
  std::vector<std::uint16_t> labels;

  std::size_t size() const { return labels.size(); }
  std::span<const std::uint8_t> image(std::size_t i, std::size_t features) const {
    return {pixels.data() + i * features, features};
  }
};

/// The samples i with chosen[i], in their order.
Samples subset(const Samples& from, const std::vector<bool>& chosen);

/// A classification problem. For an entry p of channel c a model sees (scale p - mean[c]) /
/// deviation[c]; augment.h reads samples that way. Immutable once made, so it may be shared between
/// threads and objectives.
struct Dataset {
  std::string name;
  std::size_t channels = 1;
  std::size_t height = 1;  ///< as the model sees it; height + 2 margin rows are stored
  std::size_t width = 1;
  std::size_t margin = 0;  ///< extra pixels stored on each of the four sides
  std::size_t classes = 0;
  float scale = 1;
  std::vector<float> mean{};       ///< one per channel; empty: 0
  std::vector<float> deviation{};  ///< one per channel; empty: 1
  Samples train{};
  Samples test{};
  Samples validation{};                    ///< empty unless held out from `train` (validation.h)
  std::vector<std::string> class_names{};  ///< if the files name them

  std::size_t features() const { return channels * height * width; }
  std::size_t stored_height() const { return height + 2 * margin; }
  std::size_t stored_width() const { return width + 2 * margin; }
  std::size_t stored_features() const { return channels * stored_height() * stored_width(); }
};

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
};

Registry<DatasetEntry> dataset_registry();

/// The row that a spec names, or null if that is not a dataset.
const DatasetEntry* find_dataset(std::string_view spec);

/// make_dataset("digits"), make_dataset("folder:pictures,size=64"). All files are read and checked
/// here. Shared, because all peers of a process read the same images.
///
/// A path may contain ':'; one that contains '=' is written path=..., and ',' always ends it.
/// Throws InvalidArgument for unknown names and missing files, CorruptData for files with
/// unexpected content; the text names the file, what was expected of it and where it is published.
std::shared_ptr<const Dataset> make_dataset(std::string_view spec);

/// A hash of everything that a model sees: shape, samples, labels, normalisation, class names.
std::string sha256_of(const Dataset& dataset);

}  // namespace hearsay::data
