#pragma once

#include <span>
#include <string_view>

#include "hearsay/core/registry.h"
#include "hearsay/model/network.h"

namespace hearsay::model {

/// The norm `range-evonorm` is kRangeHard. In run directories of versions that did not have these
/// two names it is kRangeSigmoid, so newer directories have only these two names.
inline constexpr std::string_view kRange = "range-evonorm", kRangeHard = "range-evonorm-hard",
                                  kRangeSigmoid = "range-evonorm-sigmoid";

/// One row of the registry: a model that `--model` can name.
using ModelEntry = Row<Network(Shape input, std::size_t outputs)>;

Registry<ModelEntry> model_registry();

/// make_model("resnet:depth=20,norm=evonorm", {3, 32, 32}, 10): its last layer has 10 outputs, one
/// per class or per number to predict. Throws InvalidArgument, including
/// when the images are too small for the model.
Network make_model(std::string_view spec, Shape input, std::size_t outputs);

}  // namespace hearsay::model
