#pragma once

#include <string>
#include <vector>

#include "hearsay/report/page/charts.h"
#include "hearsay/report/page/scatter.h"
#include "hearsay/report/runs.h"

namespace hearsay::report {

/// A picture that stands alone.
struct SvgPicture {
  std::string name;  ///< for a file: "accuracy", "accuracy-bytes"; letters, digits, '-' and '_'
  std::string svg;
};

/// The charts that a page of these runs has at its top, for print: white ground, axes with titles
/// and ticks, a legend; curves against rounds or bytes, the mean of seeds with a band of one
/// standard deviation to either side; with several runs also the metric against compression.
std::vector<SvgPicture> svg_pictures(const Runs& runs);

/// One chart; its curves refer to `records`. Long curves are sampled (sample.h). Empty if no curve
/// has a point that can be drawn.
std::string svg_of(const Chart& chart, const std::vector<const Record*>& records);
std::string svg_of(const Scatter& scatter);

}  // namespace hearsay::report
