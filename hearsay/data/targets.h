#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hearsay/data/dataset.h"

namespace hearsay::data {

/// The targets of a regression. Files have them in any unit; a model learns them standardized, so
/// that learning rates and the delta of a loss mean the same for all data: for target k of a sample
///
///   (t - mean_k) / deviation_k,  mean and deviation over the training part.
///
/// A target that is the same for all samples has deviation 1.

/// Sets target_mean and target_deviation from the training part. Throws InvalidArgument for a
/// target that differs between samples, but by less than floats of its size can hold.
void set_target_scale(Dataset& dataset);

/// Writes what a model learns of sample i, `from.targets_each` numbers, to `out`.
void read_targets(const Dataset& dataset, const Samples& from, std::size_t i, std::span<float> out);

/// For every target the sum over the samples of (t - mean)^2 in its own unit, with the mean of
/// these samples: what R2 compares squared errors with.
std::vector<double> squared_deviations(const Samples& samples);

/// In the place of labels, for partitions: the tenth, 0 to 9, in which a sample's first target
/// lies. floor(10 r / N) with r the number of samples whose target is smaller, so that equal
/// targets are in the same tenth.
std::vector<std::uint16_t> target_tenths(const Samples& samples);
inline constexpr std::size_t kTenths = 10;

}  // namespace hearsay::data
