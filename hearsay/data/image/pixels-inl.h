#pragma once

#include <cstddef>
#include <span>

#include "hearsay/data/dataset.h"

namespace hearsay::data {

/// The normalization of one channel: a model sees entry p as slope p + offset.
struct Normalizer {
  Normalizer(const Dataset& dataset, std::size_t channel) {
    const float deviation = dataset.deviation.empty() ? 1.0f : dataset.deviation[channel];
    slope = dataset.scale / deviation;
    if (!dataset.mean.empty()) offset = -dataset.mean[channel] / deviation;
  }

  template <class T>
  float operator()(T p) const {
    return slope * static_cast<float>(p) + offset;
  }

  float slope;
  float offset = 0;
};

/// Calls body(entries) with the stored entries of sample i, as bytes or floats.
template <class Body>
void with_entries(const Dataset& dataset, const Samples& from, std::size_t i, Body body) {
  const std::size_t count = dataset.stored_features();
  if (from.inputs.type() == ElementType::kF32) {
    body(from.inputs.as<float>().data() + i * count);
  } else {
    body(from.inputs.as<std::uint8_t>().data() + i * count);
  }
}

}  // namespace hearsay::data
