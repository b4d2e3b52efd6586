#pragma once

#include <cstdint>
#include <string>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/data/dataset.h"
#include "hearsay/train/run_options.h"

/// What `resolve` puts in the place of an `auto` rate and of no length, for a run on a dataset. The
/// measurements are in docs/defaults.md.
namespace hearsay::train {

/// The learning rate, by what is learnt and by the model:
///
///   classes   logistic, linear    0.1: convex, and they start at 0
///             with norms          cosine:0.03,warmup=10%: 0.1 for batches of 128 is usual, and
///                                 deep networks diverge at it while they are new
///             without norms       cosine:0.01, or what the dataset bears (digits: 0.1)
///   numbers   any                 cosine:0.01
///
/// times batch / 32 for smaller batches, as their gradients are noisier. A method that is made for
/// a constant rate gets half of the cosine's, its mean. `options` has its task, model and batch.
std::string default_rate(const RunOptions& options, const data::DatasetEntry& dataset,
                         const algorithm::Needs& needs);

/// At least this many rounds, if the length is not given: with fewer, compressed messages reach
/// nobody, and the rate falls before anything is learnt.
inline constexpr std::uint64_t kLeastRounds = 500;

/// The epochs of the dataset, or as many as give kLeastRounds rounds if its files, which are
/// counted, have few samples. `options` has its data, validation, batch and peers. Files that
/// cannot be read do not matter here: the objective says what is wrong with them.
std::uint64_t default_epochs(const RunOptions& options, const data::DatasetEntry& dataset);

}  // namespace hearsay::train
