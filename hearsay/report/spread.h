#pragma once

#include <cstddef>
#include <span>

namespace hearsay::report {

/// What several seeds gave for one number.
struct Spread {
  double mean = 0;
  double deviation = 0;  ///< the sample standard deviation, over n - 1; 0 for fewer than two
  std::size_t n = 0;
};

/// Of no values: a mean of NaN.
Spread spread_of(std::span<const double> values);

}  // namespace hearsay::report
