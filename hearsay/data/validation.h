#pragma once

#include <cstdint>
#include <memory>

#include "hearsay/data/dataset.h"

namespace hearsay::data {

/// Splits off samples, class by class: round(fraction m) of a class of m samples, but never all.
/// `classes` = 0: of a regression, whose samples are split as if they were of one class.
/// Both parts keep the order of `from`. `fraction` is in [0, 1); a function of its arguments.
struct Split {
  Samples kept;
  Samples drawn;
};
Split split_by_class(const Samples& from, std::size_t classes, double fraction, std::uint64_t seed);

/// The dataset with a fraction of its training samples moved to `validation`, for schedules and
/// model selection, so that the test part stays unseen. A fraction of 0 returns the dataset
/// unchanged. Means and deviations stay those of all training samples. Throws InvalidArgument for
/// fractions outside [0, 1) and if nothing would be held out.
std::shared_ptr<const Dataset> hold_out(std::shared_ptr<const Dataset> dataset, double fraction,
                                        std::uint64_t seed);

}  // namespace hearsay::data
