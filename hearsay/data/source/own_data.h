#pragma once

#include "hearsay/core/spec.h"
#include "hearsay/data/dataset.h"

namespace hearsay::data {

/// Completes a user's own samples (npz, csv) after reading: adds a test part, drawn class by class
/// (from all samples in a regression) from the training part if the files have none (the argument
/// `test`, a fraction; the same samples every time), and the mean and deviation of each channel,
/// computed on the training part. A column of a table is a channel of its own. A constant channel
/// keeps deviation 1. Targets of a regression get their scale (targets.h). Throws InvalidArgument
/// if there are too few samples for a test part.
void complete(Dataset& dataset, const Arguments& arguments);

/// How many of `samples` are left for training when the argument `test` takes its part.
std::size_t training_part(std::size_t samples, const Arguments& arguments);

}  // namespace hearsay::data
