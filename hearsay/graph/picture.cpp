#include "hearsay/graph/picture.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace hearsay::graph {

namespace {

constexpr std::size_t kMatrixPeers = 16, kColumns = 64, kRows = 32;
constexpr std::string_view kInk = " .:-=+*#%@";

std::string matrix(const Weights& weights) {
  const std::size_t n = weights.peers();
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> row(n, 0);
    row[i] = weights.self(i);
    for (const Edge& edge : weights.into(i)) row[edge.sender] = edge.weight;
    for (std::size_t j = 0; j < n; ++j) {
      text += fmt::format("{}{:>4}", j == 0 ? "" : " ",
                          row[j] == 0 ? "." : fmt::format("{:.2f}", row[j]));
    }
    text += '\n';
  }
  return text;
}

std::string sketch(const Weights& weights) {
  const std::size_t n = weights.peers(), columns = std::min(n, kColumns), rows = std::min(n, kRows);
  std::vector<double> filled(rows * columns, 0);
  const auto mark = [&](std::size_t receiver, std::size_t sender) {
    filled[receiver * rows / n * columns + sender * columns / n] += 1;
  };
  for (std::size_t i = 0; i < n; ++i) mark(i, i);
  for (const Edge& edge : weights.edges()) mark(edge.receiver, edge.sender);

  const double block = static_cast<double>(n) / static_cast<double>(rows) * static_cast<double>(n) /
                       static_cast<double>(columns);
  const auto darkest = static_cast<double>(kInk.size() - 1);
  std::string text;
  for (std::size_t cell = 0; cell < filled.size(); ++cell) {
    const double ink = std::min(std::ceil(filled[cell] / block * darkest), darkest);
    text += kInk[static_cast<std::size_t>(ink)];
    if ((cell + 1) % columns == 0) text += '\n';
  }
  return text;
}

}  // namespace

std::string picture(const Weights& weights) {
  return weights.peers() <= kMatrixPeers ? matrix(weights) : sketch(weights);
}

}  // namespace hearsay::graph
