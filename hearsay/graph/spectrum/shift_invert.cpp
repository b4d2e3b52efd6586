#include "hearsay/graph/spectrum/shift_invert.h"

#include <Spectra/GenEigsRealShiftSolver.h>
#include <Spectra/MatOp/SparseGenRealShiftSolve.h>
#include <Eigen/SparseLU>

#include <algorithm>
#include <functional>

namespace hearsay::graph {

std::optional<double> modulus_by_inverse(const Sparse& matrix) {
  constexpr double kShift = 1e-7;  // about the gap of the slowest graphs
  constexpr double kTolerance = 1e-10;
  constexpr int kCount = 4, kBasis = 24, kRestarts = 200;
  Spectra::SparseGenRealShiftSolve<double> op(matrix);
  Spectra::GenEigsRealShiftSolver<decltype(op)> solver(op, kCount, kBasis, 1 + kShift);
  solver.init();
  const auto order = Spectra::SortRule::LargestMagn;
  if (solver.compute(order, kRestarts, kTolerance) < kCount) return std::nullopt;
  Eigen::VectorXd moduli = solver.eigenvalues().cwiseAbs();
  std::sort(moduli.begin(), moduli.end(), std::greater());
  return moduli[1];
}

}  // namespace hearsay::graph
