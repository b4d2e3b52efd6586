#include "hearsay/graph/properties.h"

#include <algorithm>
#include <cmath>

namespace hearsay::graph {

namespace {

constexpr double kRounding = 1e-9;

bool near_one(double sum) { return std::abs(sum - 1) < kRounding; }

}  // namespace

bool is_row_stochastic(const Weights& weights) {
  const std::vector<double> ones(weights.peers(), 1.0);
  std::vector<double> sums(weights.peers());
  weights.multiply(ones, sums);
  return std::ranges::all_of(sums, near_one);
}

bool is_column_stochastic(const Weights& weights) {
  const std::vector<double> ones(weights.peers(), 1.0);
  std::vector<double> sums(weights.peers());
  weights.multiply_transposed(ones, sums);
  return std::ranges::all_of(sums, near_one);
}

bool is_symmetric(const Weights& weights) {
  const auto mirrored = [](const Edge& in, const Edge& out) {
    return in.sender == out.receiver && std::abs(in.weight - out.weight) < kRounding;
  };
  for (std::size_t i = 0; i < weights.peers(); ++i) {
    if (!std::ranges::equal(weights.into(i), weights.out_of(i), mirrored)) return false;
  }
  return true;
}

bool is_balanced(const Weights& weights) {
  for (std::size_t i = 0; i < weights.peers(); ++i) {
    if (!std::ranges::equal(weights.into(i), weights.out_of(i), {}, &Edge::weight, &Edge::weight)) {
      return false;
    }
  }
  return true;
}

}  // namespace hearsay::graph
