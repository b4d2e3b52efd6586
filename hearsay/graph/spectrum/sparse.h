#pragma once

#include <Eigen/SparseCore>

#include <optional>
#include <span>
#include <vector>

#include "hearsay/graph/weights.h"

namespace hearsay::graph {

using Sparse = Eigen::SparseMatrix<double>;

inline Sparse sparse_of(const Weights& weights) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(weights.peers() + weights.edge_count());
  for (std::size_t i = 0; i < weights.peers(); ++i) {
    entries.emplace_back(static_cast<int>(i), static_cast<int>(i), weights.self(i));
  }
  for (const Edge& edge : weights.edges()) {
    entries.emplace_back(static_cast<int>(edge.receiver), static_cast<int>(edge.sender),
                         edge.weight);
  }
  const auto n = static_cast<Eigen::Index>(weights.peers());
  Sparse matrix(n, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

/// P = W(k-1) ... W(0), or nothing if it or a factor has more than `most` non-zeros.
inline std::optional<Sparse> sparse_product(std::span<const Weights> period, std::size_t most) {
  std::optional<Sparse> product;
  for (const Weights& weights : period) {
    if (weights.peers() + weights.edge_count() > most) return std::nullopt;
    product = product ? Sparse((sparse_of(weights) * *product).pruned()) : sparse_of(weights);
    if (static_cast<std::size_t>(product->nonZeros()) > most) return std::nullopt;
  }
  return product;
}

}  // namespace hearsay::graph
