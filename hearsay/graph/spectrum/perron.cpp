#include <Eigen/SparseLU>

#include <algorithm>
#include <cmath>

#include "hearsay/graph/spectrum/sparse.h"
#include "hearsay/graph/spectrum/spectrum.h"

namespace hearsay::graph {

namespace {

/// Rounds after which a graph that has not converged is solved for instead.
constexpr int kPatience = 300;
constexpr double kSettled = 1e-14;
constexpr std::size_t kMostNonZeros = 1'000'000;

/// Push-sum weights by power iteration, if it converges. A step of 1e-14 within 300 rounds bounds
/// the ratio of steps by 0.9, hence the error by 1e-13.
std::optional<std::vector<double>> by_rounds(std::span<const Weights> period) {
  std::vector<double> weights(period.front().peers(), 1.0), before, next(weights.size());
  double work = 0;
  for (int round = 0; round < kPatience && work < kMostSolverWork; ++round) {
    before = weights;
    for (const Weights& matrix : period) {
      matrix.multiply(weights, next);
      weights.swap(next);
      work += static_cast<double>(matrix.edge_count() + weights.size());
    }
    double step = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      step = std::max(step, std::abs(weights[i] - before[i]));
    }
    if (step <= kSettled) return weights;
  }
  return std::nullopt;
}

/// Inverse iteration with (1 + s) I - P.
std::optional<std::vector<double>> by_inverse(std::span<const Weights> period) {
  constexpr double kShift = 1e-9;
  if (period.front().peers() > kMostFactorised) return std::nullopt;
  const auto found = sparse_product(period, kMostNonZeros);
  if (!found) return std::nullopt;
  const Sparse& product = *found;
  Sparse identity(product.rows(), product.cols());
  identity.setIdentity();
  const Sparse shifted = (1 + kShift) * identity - product;
  Eigen::SparseLU<Sparse> solver(shifted);
  if (solver.info() != Eigen::Success) return std::nullopt;
  const auto n = static_cast<double>(product.rows());
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(product.rows());
  for (int step = 0; step < 6; ++step) {
    weights = solver.solve(weights);
    weights *= n / weights.sum();
  }
  return std::vector<double>(weights.begin(), weights.end());
}

}  // namespace

std::optional<std::vector<double>> perron_weights(std::span<const Weights> period) {
  if (auto weights = by_rounds(period)) return weights;
  return by_inverse(period);
}

}  // namespace hearsay::graph
