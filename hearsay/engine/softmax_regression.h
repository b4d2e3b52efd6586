#pragma once

#include <memory>

#include "hearsay/data/dataset.h"
#include "hearsay/data/partition.h"
#include "hearsay/engine/objectives.h"

namespace hearsay::engine {

/// Multinomial logistic regression on a dataset: with h an image as a vector of scaled pixels,
///
///   f(W, b) = mean over the minibatch of -ln softmax(W h + b)[label]
///
/// Segments "weight" [classes, features] and "bias" [classes]; all peers start at zero. Arithmetic
/// is in double, rounded once. The batch of a round is a function of (seed, peer, round): see
/// batches.h. The score is on the test set: accuracy in percent (ties go to the lowest class) and
/// mean loss.
///
/// parts[i] are the training samples of peer i, the same number for each of the n peers. Reads
/// context.batch; context.partition is what the caller made `parts` from.
std::unique_ptr<Objective> make_softmax_regression(std::shared_ptr<const data::Dataset> dataset,
                                                   data::Partition parts,
                                                   const ObjectiveContext& context);

}  // namespace hearsay::engine
