#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/data/dataset.h"

namespace hearsay::data {

/// What devices that train on data of their own (`partition = 'own'`) agree on. Files of one's own
/// name their classes in their own order, and are normalized by their own mean and deviation:
/// without it the class 0 of one device would be the class 1 of another.
struct Agreement {
  std::vector<std::string> classes{};      ///< in the order of the labels of all devices
  std::vector<float> mean{}, deviation{};  ///< one per channel, or one for all
};

/// From the texts of the settings `classes`, `mean` and `deviation`: lists with ',' in between, or
/// "none". Throws InvalidArgument.
Agreement parse_agreement(std::string_view classes, std::string_view mean,
                          std::string_view deviation);

/// The dataset with these labels and this normalization. Classes that it has no samples of are
/// there too. Throws InvalidArgument if it has other classes, another number of channels, and if
/// something is missing that devices could differ in: with what this device's data has.
std::shared_ptr<const Dataset> adopt(std::shared_ptr<const Dataset> dataset,
                                     const Agreement& agreement);

}  // namespace hearsay::data
