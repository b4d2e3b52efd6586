#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/graph/weights.h"
#include "hearsay/report/record.h"

/// Figures as inline SVG, without a script. Colours are classes (c0 .. c7, axis, ...), so that the
/// page's style decides them for light and dark. Texts may hold anything: they are escaped.
namespace hearsay::report {

/// `text` with &, <, >, " and ' as entities.
std::string escape(std::string_view text);

struct Chart {
  std::string title;
  std::string unit;          ///< of the vertical axis; "B" writes bytes as human_bytes does
  bool strong_last = false;  ///< the last series is the one that counts: thicker, in c0
  std::string crowd{};       ///< what to call one of more than seven; empty: they keep their names
};

/// Curves over rounds with axes and a legend. Besides the strong one there are seven colours: more
/// curves than that share one if the chart has a word for a crowd, else they are dashed. Empty if
/// there is nothing to draw, or nothing but zeros.
std::string draw_curves(const Chart& chart, std::span<const Series> series);

/// Peers on a circle, an arrow a directed edge, a line for two opposite ones.
std::string draw_graph(std::size_t peers, std::span<const graph::Edge> edges);

/// counts[row][column] as shaded cells with their numbers.
std::string draw_counts(const std::vector<std::vector<double>>& counts);

}  // namespace hearsay::report
