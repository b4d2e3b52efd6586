#pragma once

#include <string>
#include <vector>

#include "hearsay/core/error.h"
#include "hearsay/graph/schedule.h"
#include "support/message_of.h"

namespace hearsay::graph {

using Matrix = std::vector<std::vector<double>>;  ///< [receiver][sender]

inline Matrix dense(const Weights& weights) {
  Matrix w(weights.peers(), std::vector<double>(weights.peers(), 0));
  for (std::size_t i = 0; i < weights.peers(); ++i) w[i][i] = weights.self(i);
  for (const Edge& edge : weights.edges()) w[edge.receiver][edge.sender] = edge.weight;
  return w;
}

inline Matrix product(const Matrix& a, const Matrix& b) {
  const std::size_t n = a.size();
  Matrix c(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < n; ++j) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

/// W of a static graph.
inline Weights weights_of(std::string_view spec, std::size_t peers, std::uint64_t seed = 0) {
  return make_schedule(spec, {.peers = peers, .seed = seed})->at(0, 0);
}

using support::message_of;

inline std::string message_of_spec(std::string_view spec, std::size_t peers = 0) {
  return message_of([&] { make_schedule(spec, {.peers = peers}); });
}

}  // namespace hearsay::graph
