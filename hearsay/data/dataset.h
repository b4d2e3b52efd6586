#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/core/spec.h"

namespace hearsay::data {

/// Labelled samples, one after the other: images as bytes, or any numbers (a user's own table). Of
/// `pixels` and `values` one is empty.
struct Samples {
  std::vector<std::uint8_t> pixels;
  std::vector<float> values{};
  std::vector<std::uint16_t> labels;

  std::size_t size() const { return labels.size(); }
  std::span<const std::uint8_t> image(std::size_t i, std::size_t features) const {
    return {pixels.data() + i * features, features};
  }
};

/// A classification problem. Of an entry p of channel c a model sees
/// (scale p - mean[c]) / deviation[c]. Immutable once made, so it may be shared between threads and
/// objectives.
struct Dataset {
  std::string name;
  std::size_t channels = 1;
  std::size_t height = 1;
  std::size_t width = 1;
  std::size_t classes = 0;
  float scale = 1;
  std::vector<float> mean{};       ///< one a channel; empty: 0
  std::vector<float> deviation{};  ///< one a channel; empty: 1
  Samples train{};
  Samples test{};

  std::size_t features() const { return channels * height * width; }
};

/// One row of the registry. `source` says who made the data and under which licence.
struct DatasetEntry {
  std::string_view name;
  std::string_view example;
  std::string_view summary;
  std::string_view source;
  std::span<const Parameter> parameters;
  std::shared_ptr<const Dataset> (*make)(const Arguments&);
};

std::span<const DatasetEntry> dataset_registry();

/// make_dataset("digits"). Shared, because all peers of a process read the same images. Throws
/// InvalidArgument for unknown names, CorruptData for files that are not what they should be.
std::shared_ptr<const Dataset> make_dataset(std::string_view spec);

}  // namespace hearsay::data
