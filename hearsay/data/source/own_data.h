#pragma once

#include "hearsay/core/spec.h"
#include "hearsay/data/dataset.h"

namespace hearsay::data {

/// What a user's own samples (npz, csv) still need after reading: a test part, drawn class by
/// class from the training part if the files have none (the argument `test`, a fraction; the same
/// samples every time), and the mean and deviation of each channel, those of the training part. A
/// column of a table is a channel of its own. A channel that does not vary keeps deviation 1.
/// Throws InvalidArgument where there are too few samples for a test part.
void complete(Dataset& dataset, const Arguments& arguments);

}  // namespace hearsay::data
