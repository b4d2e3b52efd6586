#pragma once

#include <string>
#include <vector>

#include "hearsay/report/runs.h"

namespace hearsay::report {

/// Rows of a sweep below each other, ours and what a paper prints as points on one axis.
struct DotPlot {
  struct Dot {
    std::size_t row = 0;
    double x = 0;
    double low = 0, high = 0;  ///< over the seeds
  };
  struct Series {
    std::string name;  ///< of the figure
    std::vector<Dot> ours, printed;
  };
  std::string id{};     ///< of its element
  std::string title{};  ///< the figures' names
  std::string x{};      ///< title of the axis, with its unit
  bool log = false;     ///< all are positive and more than a factor of 20 apart
  std::vector<std::string> rows{};
  std::vector<Series> series{};
};

/// One plot for the figures of a sweep that share a unit and are printed somewhere: percents beside
/// percents; one for each that has no unit. `id` begins those of the plots, which are
/// numbered.
std::vector<DotPlot> dot_plots(const ShownSweep& sweep, const std::string& id);

/// A sweep as HTML, but for its title: source, what a quick profile is not, the table with our
/// figures, the paper's and the differences, what was not run and why, the note.
std::string sweep_section(const ShownSweep& sweep);

}  // namespace hearsay::report
