#pragma once

#include <string>
#include <vector>

#include "hearsay/report/page/charts.h"
#include "hearsay/report/page/html.h"
#include "hearsay/report/page/scatter.h"
#include "hearsay/report/page/sweep_section.h"

namespace hearsay::report {

/// What the scripts of a page draw (assets/page.js), as JSON:
///
///   {"live": false,
///    "records": [{"name", "place", "lines", "round": [...], "bytes": [...], "simulated": [...]}],
///    "charts": [{"id", "y", "log", "axis", "series": [{"name", "record", "key", "entry", "colour",
///                "dash", "mark", "look", "left_out", "rows": [...], "y": [...]}]}],
///    "scatter": {"y", "log", "note", "points": [...], "fronts": [{"task", "points": [...]}],
///                "printed": [...]},
///    "dots": [{"id", "x", "log", "rows": [...], "places": [...],
///              "series": [{"name", "ours": [...], "printed": [...]}]}],
///    "costs": [...]}                                                         (cost_panel.h)
///
/// A place is that of a row in its sweep, {"row": "1 %", "skew": "0.8"}, by which series can be
/// told apart; records outside of sweeps have none.
///
/// A series has one y for each of its `rows`, which are indices into its record's columns; without
/// `rows` it has one for each entry. Curves of more evaluations than can be seen are sampled
/// (sample.h), each separately; `left_out` counts the others. null marks a value that was not
/// finite.
struct PageData {
  struct ShownChart {
    std::string id;  ///< of its element
    Chart chart;
  };

  bool live = false;
  std::vector<const Record*> records;
  std::vector<std::string> names;    ///< of the records
  std::vector<sweep::Place> places;  ///< of the records; empty: in no sweep
  std::vector<ShownChart> charts;
  Scatter scatter{};
  std::vector<DotPlot> dots;
  std::vector<std::string> costs;  ///< as JSON
};

/// The text for a <script type="application/json">: no '<', and nothing but ASCII.
std::string to_json(const PageData& data);

/// First, least, greatest and last value of each curve, over all evaluations, for readers who
/// cannot see the chart. The first row is the header.
Cells values_table(const Chart& chart, const std::vector<const Record*>& records);

}  // namespace hearsay::report
