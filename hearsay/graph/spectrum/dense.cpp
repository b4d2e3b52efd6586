#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include "hearsay/graph/spectrum/spectrum.h"

namespace hearsay::graph {

namespace {

using Eigen::MatrixXd;
using Eigen::SelfAdjointEigenSolver;

MatrixXd matrix_of(const Weights& weights) {
  const auto n = static_cast<Eigen::Index>(weights.peers());
  MatrixXd w = MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) w(i, i) = weights.self(static_cast<std::size_t>(i));
  for (const Edge& edge : weights.edges()) w(edge.receiver, edge.sender) = edge.weight;
  return w;
}

}  // namespace

Spectrum dense_spectrum(std::span<const Weights> period) {
  const auto n = static_cast<Eigen::Index>(period.front().peers());
  MatrixXd product = MatrixXd::Identity(n, n);
  for (const Weights& weights : period) product = matrix_of(weights) * product;

  Spectrum spectrum;
  const MatrixXd average = MatrixXd::Constant(n, n, 1.0 / static_cast<double>(n));
  const MatrixXd rest = product - average;
  const SelfAdjointEigenSolver<MatrixXd> squared(rest.transpose() * rest, Eigen::EigenvaluesOnly);
  spectrum.rho = std::sqrt(std::max(0.0, squared.eigenvalues()[n - 1]));

  // P maps vectors that sum to zero to such vectors; on them it has all its eigenvalues except 1.
  const MatrixXd centre = MatrixXd::Identity(n, n) - average;
  const Eigen::EigenSolver<MatrixXd> restricted(centre * product * centre, false);
  spectrum.second_modulus = restricted.eigenvalues().cwiseAbs().maxCoeff();
  return spectrum;
}

double dense_lambda_min(const Weights& symmetric) {
  return SelfAdjointEigenSolver<MatrixXd>(matrix_of(symmetric), Eigen::EigenvaluesOnly)
      .eigenvalues()[0];
}

}  // namespace hearsay::graph
