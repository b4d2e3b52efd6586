#include "hearsay/graph/spectrum/lanczos.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hearsay/core/random.h"

namespace hearsay::graph {

namespace {

/// An eigenvalue has converged if it changes between checks by this, or 1e-8 of its gap to 1.
constexpr double kConverged = 1e-13;
/// A Krylov space with a residual below this is invariant.
constexpr double kInvariant = 1e-14;

/// The symmetric tridiagonal matrix with this diagonal; beta[k] is between k and k + 1.
struct Tridiagonal {
  std::vector<double> alpha, beta;

  /// How many eigenvalues are below x: the sign changes of the Sturm sequence.
  std::size_t below(double x) const {
    std::size_t count = 0;
    double pivot = 1;
    for (std::size_t k = 0; k < alpha.size(); ++k) {
      const double square = k == 0 ? 0 : beta[k - 1] * beta[k - 1];
      pivot = alpha[k] - x - square / pivot;
      if (pivot == 0) pivot = -1e-300;
      if (pivot < 0) ++count;
    }
    return count;
  }

  double largest() const {
    double low = alpha[0], high = alpha[0];
    for (std::size_t k = 0; k < alpha.size(); ++k) {  // Gershgorin
      const double radius = (k == 0 ? 0 : beta[k - 1]) + (k + 1 < alpha.size() ? beta[k] : 0);
      low = std::max(low, alpha[k]);
      high = std::max(high, alpha[k] + radius);
    }
    while (high - low > 1e-16 + 2e-16 * std::abs(high)) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      (below(middle) < alpha.size() ? low : high) = middle;
    }
    return high;
  }
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

std::optional<double> lanczos(std::size_t n, const SymmetricProduct& multiply, End end,
                              std::size_t most_products) {
  const double sign = end == End::kLargest ? 1 : -1;
  Random random(0, Purpose::kProblem, 1);
  std::vector<double> before(n, 0), now(n), next(n);
  for (double& entry : now) entry = random.normal();
  const double norm = std::sqrt(dot(now, now));
  for (double& entry : now) entry /= norm;

  Tridiagonal tridiagonal;
  double last = 0, residual = 0;
  for (std::size_t k = 1, check = 16; k <= most_products; ++k) {
    multiply(now, next);
    for (std::size_t i = 0; i < n; ++i) next[i] = sign * next[i] - residual * before[i];
    const double alpha = dot(now, next);
    for (std::size_t i = 0; i < n; ++i) next[i] -= alpha * now[i];
    residual = std::sqrt(dot(next, next));
    tridiagonal.alpha.push_back(alpha);
    if (residual < kInvariant) return sign * tridiagonal.largest();
    if (k == check) {
      const double value = tridiagonal.largest();
      const double enough = std::max(kConverged, 1e-8 * (1 - value));
      if (k > 16 && std::abs(value - last) < enough) return sign * value;
      last = value;
      check += check / 2;
    }
    tridiagonal.beta.push_back(residual);
    for (double& entry : next) entry /= residual;
    before.swap(now);
    now.swap(next);
  }
  return std::nullopt;
}

}  // namespace hearsay::graph
