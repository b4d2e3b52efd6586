#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

namespace hearsay::graph {

/// y = A x for a symmetric A.
using SymmetricProduct = std::function<void(std::span<const double> x, std::span<double> y)>;

enum class End { kLargest, kSmallest };

/// An extreme eigenvalue of an n x n symmetric matrix with norm about 1, to about 1e-12; nothing if
/// it has not converged after 60,000 products.
///
/// Plain Lanczos with three vectors and no reorthogonalisation: rounding causes copies of converged
/// eigenvalues, which are harmless at the ends of the spectrum (Paige 1980). It takes about 7,000
/// products for a path of 4,096 peers. Spectra's restarted solver keeps an orthogonal basis, which
/// costs more per product there, and fails on matrices with few distinct eigenvalues, such as a
/// star of 300 peers.
std::optional<double> lanczos(std::size_t n, const SymmetricProduct& multiply, End end,
                              std::size_t most_products);

}  // namespace hearsay::graph
