#pragma once

#include <string>
#include <vector>

#include "hearsay/report/runs.h"

namespace hearsay::report {

/// A metric against compression: one point per run, or per group of seeds, at its compression
/// factor (4d over the bytes of a message as encoded) and the final mean over peers of the metric
/// that most runs have. Rows of a sweep have a point for each of its figures of that metric, a mean
/// over seeds, at the factor until the same evaluation, as the sweep counts it; a paper's points
/// are shown too. Runs that send nothing over edges have no factor and no point.
struct Scatter {
  struct Point {
    std::string name;
    std::string figure{};  ///< of a sweep; empty for a run by itself
    double x = 0, y = 0;
    double low = 0, high = 0;  ///< y -+ its standard deviation over seeds
    bool x_is_ours = false;    ///< of a paper's point: the paper gives no factor for it
    std::string task{};        ///< data and partition: points of different tasks are not comparable
  };
  /// The Pareto front of one task (pareto.h), x ascending; factors within 1 % of each other count
  /// as equal.
  struct Front {
    std::string task;
    std::vector<std::size_t> points;
  };
  std::string y;                ///< title of the axis, with its unit
  bool less_is_better = false;  ///< of y
  bool log = false;             ///< its axis
  std::vector<Point> points;    ///< ours
  std::vector<Front> fronts;    ///< one per task
  std::vector<Point> printed;
  std::vector<std::string> without_factor;  ///< not drawn, as they sent nothing

  /// What is not drawn, and where a paper's points without a factor are placed.
  std::string note() const;
};

/// Empty if fewer than two points can be drawn.
Scatter make_scatter(const Runs& runs);

}  // namespace hearsay::report
