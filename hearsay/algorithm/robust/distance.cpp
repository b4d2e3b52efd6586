#include "hearsay/algorithm/robust/distance.h"

#include <array>
#include <cmath>
#include <numeric>

namespace hearsay::algorithm {

/// Sums in lanes, so that a compiler may add vectors.
double model_distance(std::span<const float> x, double u, std::span<const float> y, double v) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> squares{};
  const double a = 1 / u, b = 1 / v;
  std::size_t k = 0;
  for (; k + kLanes <= x.size(); k += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double off =
          a * static_cast<double>(x[k + lane]) - b * static_cast<double>(y[k + lane]);
      squares[lane] += off * off;
    }
  }
  for (; k < x.size(); ++k) {
    const double off = a * static_cast<double>(x[k]) - b * static_cast<double>(y[k]);
    squares[0] += off * off;
  }
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

}  // namespace hearsay::algorithm
