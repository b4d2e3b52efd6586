#pragma once

#include <memory>
#include <string_view>

#include "hearsay/data/dataset.h"

namespace hearsay::data {

inline constexpr std::string_view kDigitsSource =
    "E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits, UCI Machine Learning "
    "Repository, 1998, https://doi.org/10.24432/C50P49; licence CC BY 4.0";

/// The 1,797 digits of 13 writers that are the test part of the UCI set, as shipped by
/// scikit-learn: 8x8 pixels of 0..16, scaled by 1/16, ten classes of 174 to 183 images.
///
/// The set is ordered in runs of 0, 1, ..., 9, so it is split class by class: of each class, in the
/// set's order, every fifth image (the 5th, 10th, ...) is for testing. That is 1,442 for training
/// and 355 for testing, with all writers in both.
std::shared_ptr<const Dataset> make_digits();

}  // namespace hearsay::data
