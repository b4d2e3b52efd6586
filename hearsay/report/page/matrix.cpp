#include "hearsay/report/page/matrix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/markup.h"

namespace hearsay::report {

namespace {

constexpr std::size_t kLevels = 5;  ///< of darkness
constexpr double kSize = 320, kMargin = 24;
constexpr std::size_t kMostNumbers = 16;  ///< on an axis

/// The level of every cell, row by row; 0: there is no edge.
std::vector<std::size_t> levels_of(const graph::Weights& weights,
                                   const std::function<double(const graph::Edge&)>& amount,
                                   double most) {
  std::vector<std::size_t> levels(weights.peers() * weights.peers());
  for (const graph::Edge& edge : weights.edges()) {
    std::size_t level = kLevels;
    if (amount && most > 0) {
      const double part = std::clamp(amount(edge) / most, 0.0, 1.0);
      level = std::max<std::size_t>(
          1, static_cast<std::size_t>(std::ceil(part * static_cast<double>(kLevels))));
    }
    levels[edge.sender * weights.peers() + edge.receiver] = level;
  }
  return levels;
}

/// One path per level; neighbouring cells of a row are one rectangle.
std::array<std::string, kLevels + 1> paths_of(const std::vector<std::size_t>& levels,
                                              std::size_t peers) {
  std::array<std::string, kLevels + 1> paths;
  for (std::size_t row = 0; row < peers; ++row) {
    for (std::size_t begin = 0, end = 0; begin < peers; begin = end) {
      const std::size_t level = levels[row * peers + begin];
      for (end = begin + 1; end < peers && levels[row * peers + end] == level;) ++end;
      if (level == 0) continue;
      paths[level] += fmt::format("M{} {}h{}v1h-{}z", begin, row, end - begin, end - begin);
    }
  }
  return paths;
}

}  // namespace

std::string matrix(const graph::Weights& weights, const std::string& title,
                   const std::function<double(const graph::Edge&)>& amount, double most) {
  const std::size_t peers = weights.peers();
  const double cell = (kSize - kMargin) / static_cast<double>(std::max<std::size_t>(peers, 1));
  std::string svg =
      fmt::format(R"(<svg class="matrix" viewBox="0 0 {0} {0}" role="img"><title>{1}</title>)"
                  R"(<rect class="field" x="{2}" y="{2}" width="{3}" height="{3}"/>)"
                  "\n",
                  kSize, escape_markup(title), kMargin, kSize - kMargin);
  const auto paths = paths_of(levels_of(weights, amount, most), peers);
  for (std::size_t level = 1; level <= kLevels; ++level) {
    if (paths[level].empty()) continue;
    svg += fmt::format(R"x(<path class="cell" fill-opacity="{:.2f}" )x"
                       R"x(transform="translate({} {}) scale({:.4f})" d="{}"/>)x"
                       "\n",
                       0.2 + 0.8 * static_cast<double>(level) / kLevels, kMargin, kMargin, cell,
                       paths[level]);
  }
  const std::size_t step = (peers + kMostNumbers - 1) / kMostNumbers;
  for (std::size_t peer = 0; step > 0 && peer < peers; peer += step) {
    const double at = kMargin + cell * (static_cast<double>(peer) + 0.5);
    svg += fmt::format(R"(<text x="{0:.1f}" y="{1}" text-anchor="middle">{2}</text>)"
                       R"(<text x="{1}" y="{3:.1f}" text-anchor="end">{2}</text>)",
                       at, kMargin - 5, peer, at + 3);
  }
  return svg + "</svg>\n";
}

}  // namespace hearsay::report
