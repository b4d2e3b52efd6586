#pragma once

#include <map>
#include <string>
#include <vector>

#include "hearsay/report/page/charts.h"
#include "hearsay/report/page/scatter.h"
#include "hearsay/report/runs.h"

namespace hearsay::report {

/// How the curves of a sweep's rows are told apart: one axis by colour, one by dash, one by mark.
struct Looks {
  struct Look {
    std::size_t colour = 0, dash = 0, mark = 0;
    std::string name;  ///< the values alone: "topk:keep=0.1, ring"
  };
  std::map<std::string, Look> of_label;  ///< of rows
  std::string note;                      ///< "Colour: compressor; dash: graph; mark: eta."

  /// Gives the curves that are named by a row its look and its short name, and a note to the charts
  /// that have any.
  void apply(std::vector<Chart>& charts) const;
  /// Points get short names.
  void apply(Scatter& scatter) const;
};

/// Empty unless the runs are those of one sweep whose rows all lie on the same two or three axes
/// with several values each, of which the longest has at most kColours, the next kDashes and the
/// last kMarks: other curves are told apart by their numbers (paint).
Looks looks_of(const Runs& runs);

}  // namespace hearsay::report
