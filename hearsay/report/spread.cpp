#include "hearsay/report/spread.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace hearsay::report {

Spread spread_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  if (values.empty()) return {.mean = std::numeric_limits<double>::quiet_NaN()};
  Spread spread{.mean = std::accumulate(values.begin(), values.end(), 0.0) / n, .n = values.size()};
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / (n - 1));
  return spread;
}

}  // namespace hearsay::report
