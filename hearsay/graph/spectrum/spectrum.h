#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "hearsay/graph/weights.h"

namespace hearsay::graph {

/// The multiplications that a solver may take, some ten seconds: enough for every graph of ten
/// thousand peers, and for larger ones that mix fast.
inline constexpr double kMostSolverWork = 3e10;

/// Peers up to which a sparse matrix is factorised; the factors of a grid of so many take 1 GB.
inline constexpr std::size_t kMostFactorised = std::size_t{1} << 17;

/// Spectral properties of P = W(k-1) ... W(0) for two peers or more. Three methods compute the same
/// numbers; facts_of takes the first that applies: circulant, dense (few peers), Krylov.
struct Spectrum {
  double rho = 0;             ///< ||P - 11'/n||_2
  double second_modulus = 0;  ///< largest |eigenvalue| of P on vectors that sum to zero
};

/// All W circulant, or block-circulant with circulant blocks over the same R x C (a torus): they
/// commute, and their eigenvalues are the values of their symbol, sum_d W[d][0] exp(-2 pi i <d,
/// f>), at the n frequencies f. Exact to rounding, in O(n * degree).
class Circulants {
 public:
  /// Nothing if the W are not such matrices.
  static std::optional<Circulants> of(std::span<const Weights> period);

  Spectrum spectrum() const;

  /// The smallest over the period; an eigenvalue only if the W are symmetric.
  double smallest_real_part() const { return smallest_real_part_; }

  /// The first round after which |x - mean| is at most `tolerance` times its initial value;
  /// Facts::kNever if there is none before. O(n log n).
  std::size_t rounds_to_average(std::span<const double> x, double tolerance) const;

 private:
  std::size_t rows_ = 1, columns_ = 1;
  double smallest_real_part_ = 1;
  std::vector<std::vector<double>>
      moduli_;  ///< [t][f]: |eigenvalue| of W(t) ... W(0) at frequency f
};

/// By dense decompositions: O(n^3), for a few hundred peers.
Spectrum dense_spectrum(std::span<const Weights> period);
double dense_lambda_min(const Weights& symmetric);

/// By Krylov subspaces (Spectra), for thousands of peers, to a relative error of 1e-6 or better.
/// Nothing if they do not converge within so much work.
std::optional<Spectrum> krylov_spectrum(std::span<const Weights> period,
                                        double most_work = kMostSolverWork);
std::optional<double> krylov_lambda_min(const Weights& symmetric);

/// n times the Perron vector of P: the limit of push-sum weights that start at 1. Nothing if it is
/// not found within kMostSolverWork.
std::optional<std::vector<double>> perron_weights(std::span<const Weights> period);

}  // namespace hearsay::graph
