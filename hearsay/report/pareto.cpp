#include "hearsay/report/pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hearsay::report {

std::vector<std::size_t> pareto_front(std::span<const double> x, std::span<const double> y,
                                      double same) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (std::isfinite(x[i]) && std::isfinite(y[i])) order.push_back(i);
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    if (x[a] != x[b]) return x[a] > x[b];
    return y[a] != y[b] ? y[a] > y[b] : a > b;
  });
  // From the largest x down. The points with no smaller x are a growing prefix of `order`, and so
  // are those with larger x: the highest y of each prefix is kept.
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  double highest_with_no_less = kNone, highest_with_more = kNone;
  std::size_t no_less = 0, more = 0;
  std::vector<std::size_t> front;
  for (std::size_t i : order) {
    for (; no_less < order.size() && x[order[no_less]] * (1 + same) >= x[i]; ++no_less) {
      highest_with_no_less = std::max(highest_with_no_less, y[order[no_less]]);
    }
    for (; more < order.size() && x[order[more]] > x[i] * (1 + same); ++more) {
      highest_with_more = std::max(highest_with_more, y[order[more]]);
    }
    if (y[i] >= highest_with_no_less && y[i] > highest_with_more) front.push_back(i);
  }
  std::ranges::reverse(front);
  return front;
}

}  // namespace hearsay::report
