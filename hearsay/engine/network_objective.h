#pragma once

#include <memory>

#include "hearsay/data/image/augment.h"
#include "hearsay/data/share.h"
#include "hearsay/engine/loss.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/model/network.h"

namespace hearsay::engine {

/// A network that is trained on a dataset, on any device (plan.h): f is the loss of a minibatch,
/// the mean over its samples (loss.h), in standardized targets if these are numbers. The minibatch
/// of a round is a function of (seed, peer, round), see batches.h; so are its augmentation and its
/// dropout masks.
///
/// All peers start from the same model. Running statistics of batch norm are local to a peer; those
/// of a model that no peer holds are the mean over 64 batches of training samples of all peers,
/// augmented as in training.
///
/// The score is on the test set: the mean loss, and the accuracy in percent (ties go to the lowest
/// class) or RMSE, in the targets' own unit, and R2 (score.h); likewise on the validation set, if
/// the dataset has one.
///
/// share.parts[i] are the training samples of peer first + i, the same number for each of the n
/// peers; share.extra are those of statistics_samples, empty if estimate_buffers will not be
/// called. Reads `model`, `batch`, `seed`, `first`, `rows`, `pool` and `kernels` of the context.
/// The network runs on the GPU if the kernels are a GPU's, else on the CPU (on_host.h).
std::unique_ptr<Objective> make_network_objective(data::Share share, model::Network network,
                                                  std::unique_ptr<data::Augmentation> augmentation,
                                                  const Loss& loss,
                                                  const ObjectiveContext& context);

}  // namespace hearsay::engine
