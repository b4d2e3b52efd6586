#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/data/dataset.h"
#include "hearsay/model/description.h"

namespace hearsay::data {

/// What an export of a network that was trained on the dataset must say. `model` and `loss` are
/// their specs.
model::Description describe(const Dataset& dataset, std::string_view model, std::string_view loss);

/// A dataset as a saved model expects it.
struct Conformed {
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::string> assumptions;  ///< what had to be guessed, a sentence each
};

/// Normalizes the dataset as the model's own training data was, numbers its classes as the model's
/// outputs, and gives targets the model's scale. Classes are matched by their names, where both
/// have names; labels without names count as "0", "1", ... Throws InvalidArgument if the samples
/// have another shape, classes that the model does not know, or other columns or targets.
Conformed conform(std::shared_ptr<const Dataset> dataset, const model::Description& model);

}  // namespace hearsay::data
