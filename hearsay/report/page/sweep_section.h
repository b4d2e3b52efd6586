#pragma once

#include <string>
#include <vector>

#include "hearsay/report/runs.h"

namespace hearsay::report {

/// Rows of a sweep below each other, our results and the paper's as points on one axis.
struct DotPlot {
  struct Dot {
    std::size_t row = 0;
    double x = 0;
    double low = 0, high = 0;  ///< mean -+ standard deviation over seeds
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
  std::vector<sweep::Place> places{};  ///< of the rows
  std::vector<Series> series{};
};

/// One plot for all figures of a sweep that share a unit and for which the paper has values:
/// percents with percents; one for each that has no unit. `id` is the prefix of the plots' ids,
/// which are numbered.
std::vector<DotPlot> dot_plots(const ShownSweep& sweep, const std::string& id);

/// A sweep as HTML, without its title: source, the limits of a quick profile, the table with our
/// results, the paper's and the differences, what failed or was not run and why, the note.
std::string sweep_section(const ShownSweep& sweep);

}  // namespace hearsay::report
