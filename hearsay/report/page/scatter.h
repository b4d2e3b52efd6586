#pragma once

#include <string>
#include <vector>

#include "hearsay/report/runs.h"

namespace hearsay::report {

/// What compression costs: a point a run at its compression factor (4d over the bytes of a message
/// as encoded) and the mean over peers, in the end, of the first metric that any run has. Rows of a
/// sweep have a point for each of its figures of that metric, a mean over seeds, at the factor
/// until the same evaluation, as the sweep counts it; what a paper prints stands beside. Who sends
/// nothing over edges has no factor and no point.
struct Scatter {
  struct Point {
    std::string name;
    std::string figure{};  ///< of a sweep; empty for a run by itself
    double x = 0, y = 0;
    double low = 0, high = 0;  ///< of y over the seeds
    bool x_is_ours = false;    ///< of a printed point: the paper has no factor for it
    std::string task{};        ///< data and how they are shared out: others are not comparable
  };
  /// Points of one task that no other of it outdoes (pareto.h), x ascending; factors within 1 % of
  /// each other count as equal.
  struct Front {
    std::string task;
    std::vector<std::size_t> points;
  };
  std::string y;                ///< title of the axis, with its unit
  bool less_is_better = false;  ///< of y
  bool log = false;             ///< its axis
  std::vector<Point> points;    ///< ours
  std::vector<Front> fronts;    ///< a task each
  std::vector<Point> printed;
  std::vector<std::string> without_factor;  ///< what is not drawn as it sent nothing

  /// What is not drawn, and where printed points stand of which the paper has no factor.
  std::string note() const;
};

/// No points if fewer than two have what it takes.
Scatter make_scatter(const Runs& runs);

}  // namespace hearsay::report
