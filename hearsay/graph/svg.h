#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/graph/schedule.h"
#include "hearsay/graph/weights.h"

/// Graphs as SVG: peers as numbered dots, one arrow per directed edge. Two opposite edges of the
/// same width are one line without heads; otherwise they are two bent arrows, each with its own
/// width.
namespace hearsay::graph {

/// How peers are placed.
struct Shape {
  enum class Kind { kCircle, kGrid, kStar } kind = Kind::kCircle;
  std::size_t columns = 0;  ///< of a grid, peers in row-major order
};

/// The shape for a spec: rows and columns for grid and torus, peer 0 in the middle of a star, a
/// circle for all others.
Shape shape_of(std::string_view spec, std::size_t peers);

struct SvgStyle {
  Shape shape{};
  /// The value of an edge, to which its line width is proportional: at most 5 units, at least 1,
  /// and thinner if there are more than 150 edges.
  /// Empty: all edges have the same width.
  std::function<double(const Edge&)> amount{};
  /// The amount of the widest line, where pictures share a scale. 0: the largest of this picture,
  /// or a medium width for all edges if they are nearly equal.
  double most = 0;
  /// Appended to an edge's tooltip: ", 1.98 MB" after "0 to 1, weight 0.333".
  std::function<std::string(const Edge&)> more{};
};

/// The largest number of edges that is drawn.
constexpr std::size_t kMostDrawnEdges = 4000;

/// W as an <svg class="graph"> element, for a page whose style has rules for .edge, .head, .peer
/// and text. `title` is for screen readers. Throws InvalidArgument if there are too many edges.
std::string svg(const Weights& weights, const std::string& title, const SvgStyle& style = {});

/// The distinct matrices of a schedule's period, in order: one for a static graph.
std::vector<Weights> phases(const Schedule& schedule);

/// A schedule as a standalone file, for light and dark screens: its graph or, if it is
/// time-varying, its first twelve phases side by side. Throws InvalidArgument if there are too many
/// edges.
std::string svg_file(const Schedule& schedule, std::string_view spec);

}  // namespace hearsay::graph
