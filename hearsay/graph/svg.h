#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/graph/schedule.h"
#include "hearsay/graph/weights.h"

/// Graphs as SVG: peers as numbered dots, an arrow a directed edge. Two opposite edges that look
/// alike are one line without heads; otherwise they are two bent arrows, each of its own width.
namespace hearsay::graph {

/// How peers are placed.
struct Shape {
  enum class Kind { kCircle, kGrid, kStar } kind = Kind::kCircle;
  std::size_t columns = 0;  ///< of a grid, peers row by row
};

/// What suits a spec: rows and columns for grid and torus, peer 0 in the middle of a star, a circle
/// for all others.
Shape shape_of(std::string_view spec, std::size_t peers);

struct SvgStyle {
  Shape shape{};
  /// How much an edge counts: its line is as wide as that, the widest 5 units, none below 1. Empty:
  /// all are alike.
  std::function<double(const Edge&)> amount{};
  /// Of the widest, where pictures share a scale. 0: the largest of this one, and where all are
  /// nearly that, a middling width for each.
  double most = 0;
  /// What an edge is called when pointed at, behind "0 to 1, weight 0.333": ", 1.98 MB".
  std::function<std::string(const Edge&)> more{};
};

/// More edges than this are no picture.
constexpr std::size_t kMostDrawnEdges = 4000;

/// W as an <svg class="graph"> element, for a page whose style has rules for .edge, .head, .peer
/// and text. `title` is for readers who do not see it. Throws InvalidArgument if there are too many
/// edges.
std::string svg(const Weights& weights, const std::string& title, const SvgStyle& style = {});

/// The different matrices of a schedule's period, in order: one for a static graph.
std::vector<Weights> phases(const Schedule& schedule);

/// A schedule as a file of its own, for light and dark screens: its graph, or if it changes the
/// first twelve of its phases side by side. Throws InvalidArgument if there are too many edges.
std::string svg_file(const Schedule& schedule, std::string_view spec);

}  // namespace hearsay::graph
