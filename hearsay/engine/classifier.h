#pragma once

#include <memory>

#include "hearsay/data/image/augment.h"
#include "hearsay/data/share.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/model/network.h"

namespace hearsay::engine {

/// A network that classifies the images of a dataset: f is the mean softmax cross-entropy of a
/// minibatch. The batch of a round is a function of (seed, peer, round), see batches.h; so are its
/// augmentation and what dropout drops.
///
/// One thread computes one peer's gradient; peers run in parallel over the context's pool, each
/// thread with a plan of its own. All peers start from the same model. Running statistics of batch
/// norm are a peer's own; those of a model that no peer holds are the mean of 64 batches of
/// training samples of all peers, augmented as in training.
///
/// The score is on the test set: accuracy in percent (ties go to the lowest class) and mean loss;
/// likewise on the validation set, if the dataset has one.
///
/// share.parts[i] are the training samples of peer first + i, the same number for each of the n
/// peers; share.extra are those of statistics_samples, empty if no estimate will be asked for.
/// Reads `batch`, `seed`, `first`, `rows` and `pool` of the context.
std::unique_ptr<Objective> make_classifier(data::Share share, model::Network network,
                                           std::unique_ptr<data::Augmentation> augmentation,
                                           const ObjectiveContext& context);

}  // namespace hearsay::engine
