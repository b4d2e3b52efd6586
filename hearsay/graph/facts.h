#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hearsay/graph/schedule.h"

namespace hearsay::graph {

/// Spectral and other properties of a graph. For a time-varying graph rho, the second modulus and
/// the Perron vector are those of the product of W over one period, P = W(k-1) ... W(0); lambda_min
/// and the booleans cover every matrix in it.
struct Facts {
  std::size_t peers = 0;
  std::size_t period = 1;           ///< matrices in one period
  bool strongly_connected = false;  ///< jointly, over the period
  bool column_stochastic = false;
  bool row_stochastic = false;
  bool doubly_stochastic = false;
  bool symmetric = false;
  /// Every peer receives the weights that it sends, in the same order, in every round there will
  /// be: push-sum weights stay exactly 1.
  bool balanced = false;
  /// False where the spectral properties would take too long: a large graph that mixes slowly and
  /// is neither circulant nor small. rho to lambda_min are NaN then, perron is empty and rounds 0.
  bool has_spectrum = true;
  double rho = 0;                 ///< ||P - 11'/n||_2
  double second_modulus = 0;      ///< second largest |eigenvalue| of P
  double lambda_min = 0;          ///< smallest eigenvalue of any W; only if symmetric, else 0
  std::vector<double> perron;     ///< n times the Perron vector of P: the limit of push-sum weights
  std::size_t rounds_to_1e3 = 0;  ///< rounds until push-sum has reduced the spread of a random
                                  ///< vector to 1e-3 of it; kNever if there are too many to count
  static constexpr std::size_t kNever = std::size_t{1} << 53;
  std::size_t min_out_degree = 0, max_out_degree = 0;
  double messages_per_round = 0;  ///< mean over the period
};

/// Which properties to compute: the cheap ones only, or also the spectral ones.
enum class Depth { kProperties, kSpectral };

Facts facts_of(const Schedule& schedule, Depth depth = Depth::kSpectral);

}  // namespace hearsay::graph
