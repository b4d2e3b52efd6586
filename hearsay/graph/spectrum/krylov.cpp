#include <Spectra/GenEigsSolver.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hearsay/graph/properties.h"
#include "hearsay/graph/spectrum/lanczos.h"
#include "hearsay/graph/spectrum/shift_invert.h"
#include "hearsay/graph/spectrum/spectrum.h"

// Symmetric problems use Lanczos. Otherwise Arnoldi with a small basis finds the largest modulus of
// fast-mixing graphs in some hundred products, however dense they are. If it does not converge, the
// graph mixes slowly: then shift-and-invert if it is also sparse, then Arnoldi with a large basis.

namespace hearsay::graph {

namespace {

/// Edges above which a product takes milliseconds.
constexpr std::size_t kManyEdges = 1 << 20;

/// Mean non-zeros per row up to which a factorisation is tried.
constexpr std::size_t kSparse = 32;

struct Effort {
  int basis = 0;
  int restarts = 0;
};
constexpr Effort kSmallEffort{100, 20}, kLargeEffort{300, 60};

/// Lanczos steps, however small the matrix is.
constexpr double kMostProducts = 60'000;

double mean(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

void subtract(double value, std::span<double> x) {
  for (double& entry : x) entry -= value;
}

/// A linear operator of the period, with the interface that Spectra expects. J = 11'/n.
class Operator {
 public:
  using Scalar = double;
  enum class Kind {
    kPlain,       ///< P
    kDeflated,    ///< P - J: a symmetric W without its eigenvalue 1
    kRestricted,  ///< (I - J) P (I - J)
    kSquared,     ///< (P - J)' (P - J)
  };

  Operator(std::span<const Weights> period, Kind kind)
      : period_(period), kind_(kind), size_(period.front().peers()), in_(size_), out_(size_) {}

  Eigen::Index rows() const { return static_cast<Eigen::Index>(size_); }
  Eigen::Index cols() const { return rows(); }

  void perform_op(const double* x, double* y) const {
    out_.assign(x, x + size_);
    const double before = mean(out_);
    if (kind_ == Kind::kRestricted) subtract(before, out_);
    for (const Weights& weights : period_) {
      in_.swap(out_);
      weights.multiply(in_, out_);
    }
    if (kind_ == Kind::kRestricted) subtract(mean(out_), out_);
    if (kind_ == Kind::kDeflated || kind_ == Kind::kSquared) subtract(before, out_);
    if (kind_ == Kind::kSquared) {
      const double between = mean(out_);
      for (std::size_t k = period_.size(); k-- > 0;) {
        in_.swap(out_);
        period_[k].multiply_transposed(in_, out_);
      }
      subtract(between, out_);
    }
    std::copy(out_.begin(), out_.end(), y);
  }

  std::size_t edges() const {
    std::size_t count = 0;
    for (const Weights& weights : period_) count += weights.edge_count();
    return count;
  }

  /// Whether it maps every vector to zero, up to rounding: P = J. Krylov spaces are empty then.
  bool vanishes() const {
    std::vector<double> x(size_), y(size_);
    for (std::size_t i = 0; i < size_; ++i) x[i] = std::sin(static_cast<double>(i * i));
    perform_op(x.data(), y.data());
    return std::ranges::all_of(y, [](double entry) { return std::abs(entry) < 1e-13; });
  }

 private:
  std::span<const Weights> period_;
  Kind kind_;
  std::size_t size_;
  mutable std::vector<double> in_, out_;
};

std::optional<double> symmetric_end(const Operator& op, End end, double most_work) {
  const auto multiply = [&](std::span<const double> x, std::span<double> y) {
    op.perform_op(x.data(), y.data());
  };
  // A row costs as much as 40 edges: its vectors are read several times.
  const double work = static_cast<double>(op.edges()) + 40 * static_cast<double>(op.rows());
  const auto most = static_cast<std::size_t>(std::min(kMostProducts, most_work / work));
  return lanczos(static_cast<std::size_t>(op.rows()), multiply, end, most);
}

/// The largest eigenvalue modulus of an operator. The relative error of its gap to 1 is at most
/// 1e-8, or 1e-4 where products are slow: a dense random graph has thousands of eigenvalues of
/// nearly the same small modulus, and separating them would take minutes.
std::optional<double> arnoldi(Operator op, Effort effort, double most_work) {
  if (op.vanishes()) return 0;
  const int basis = std::min(effort.basis, static_cast<int>(op.rows()));
  const double restart =
      basis * (static_cast<double>(op.edges()) + 4.0 * basis * static_cast<double>(op.rows()));
  const int restarts = static_cast<int>(std::min<double>(effort.restarts, most_work / restart));
  if (restarts == 0) return std::nullopt;
  const double error = op.edges() > kManyEdges ? 1e-4 : 1e-8;
  for (double tolerance = 5e-3;;) {  // relative to the modulus
    Spectra::GenEigsSolver<Operator> solver(op, 1, basis);
    solver.init();
    if (solver.compute(Spectra::SortRule::LargestMagn, restarts, tolerance) < 1)
      return std::nullopt;
    const double modulus = solver.eigenvalues().cwiseAbs().maxCoeff();
    const double needed = std::max(1e-10, error * (1 - modulus) / modulus);
    if (tolerance <= needed) return modulus;
    tolerance = needed;
  }
}

/// P, if it is sparse enough to factorise.
std::optional<Sparse> factorisable(std::span<const Weights> period) {
  if (period.front().peers() > kMostFactorised) return std::nullopt;
  return sparse_product(period, kSparse * period.front().peers());
}

std::optional<double> second_modulus_of(std::span<const Weights> period, double most_work) {
  const Operator restricted(period, Operator::Kind::kRestricted);
  auto modulus = arnoldi(restricted, kSmallEffort, most_work);
  if (!modulus) {
    if (const auto product = factorisable(period)) modulus = modulus_by_inverse(*product);
  }
  if (!modulus) modulus = arnoldi(restricted, kLargeEffort, most_work);
  return modulus;
}

}  // namespace

std::optional<Spectrum> krylov_spectrum(std::span<const Weights> period, double most_work) {
  if (period.size() == 1 && is_symmetric(period.front())) {
    const Operator deflated(period, Operator::Kind::kDeflated);
    const auto largest = symmetric_end(deflated, End::kLargest, most_work);
    if (!largest) return std::nullopt;
    const auto smallest = symmetric_end(deflated, End::kSmallest, most_work);
    if (!smallest) return std::nullopt;
    const double modulus = std::max(*largest, std::abs(*smallest));
    return Spectrum{.rho = modulus, .second_modulus = modulus};
  }
  const auto square = symmetric_end({period, Operator::Kind::kSquared}, End::kLargest, most_work);
  if (!square) return std::nullopt;
  const auto modulus = second_modulus_of(period, most_work);
  if (!modulus) return std::nullopt;
  return Spectrum{.rho = std::sqrt(std::max(0.0, *square)), .second_modulus = *modulus};
}

std::optional<double> krylov_lambda_min(const Weights& symmetric) {
  return symmetric_end({{&symmetric, 1}, Operator::Kind::kPlain}, End::kSmallest, kMostSolverWork);
}

}  // namespace hearsay::graph
