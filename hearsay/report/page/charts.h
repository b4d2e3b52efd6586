#pragma once

#include <span>
#include <string>
#include <vector>

#include "hearsay/report/record.h"
#include "hearsay/report/runs.h"

namespace hearsay::report {

/// A figure of one record over its evaluations, or an entry of a figure that is a list.
struct Curve {
  /// Where a page draws it: kBand fills what lies between this curve and the next.
  enum class Look { kPlain, kStrong, kBand };

  std::string name;
  std::size_t record = 0;  ///< index in the page's records
  std::string key;         ///< of metrics.jsonl; "bytes": those of edges and of global averages
  int entry = -1;          ///< of a list; -1: a figure
  std::size_t colour = 0;  ///< 0 for the one that counts, 1 .. kColours for others
  std::size_t dash = 0;    ///< 0: none; .. kDashes - 1; a second way to tell curves apart
  Look look = Look::kPlain;
};

/// Besides colour 0 there are so many that can be told apart, also by colour-blind readers.
constexpr std::size_t kColours = 7;
constexpr std::size_t kDashes = 4;
/// Of colour 1, 2, ...: colours that are near each other have different dashes, and those near ink
/// neither of the two that curves of ink have, 0 and 1 (palette_test.cpp).
constexpr std::size_t kDashOfColour[kColours] = {0, 2, 1, 3, 3, 2, 1};

struct Chart {
  std::string id;  ///< "loss", or the key of a metric
  std::string title;
  std::string note;    ///< what a reader should know; may be empty
  std::string y;       ///< title of the vertical axis, with its unit
  bool log = false;    ///< its scale, at first
  std::string axis{};  ///< "bytes": always against these; empty: as the reader chooses
  std::vector<Curve> curves;
};

/// Colours in turn, each with its dash; every time round with the next dash. So there are 28 looks,
/// and of curves that lie on each other both are seen.
void paint(Curve& curve, std::size_t number);

bool has_some(std::span<const double> values);  ///< that is finite

/// A number an evaluation: kAbsent and kNotFinite as Columns have them. Minibatch losses of round
/// 0, before any minibatch, are absent; push-sum weights that a line leaves out are 1.
std::vector<double> values_of(const Curve& curve, const Record& record);

/// "Test accuracy", "Distance to the optimum": what a metric's titles begin with.
std::string title_of(const engine::Metric& metric);
/// "Mean test accuracy (%)", with `before` = "Mean test": the title of its axis.
std::string axis_title(std::string_view before, const engine::Metric& metric);
/// Of a mean over peers.
std::string mean_axis_title(const engine::Metric& metric);
/// A metric on the samples held out, without curves; the first one's id is "validation", that of
/// others "validation-KEY".
Chart validation_chart(const engine::Metric& metric, bool is_first);

/// All that can be drawn of a run whose record has that index; its controls have the next ones.
/// Charts that would show nothing are left out; with `live` those stay that may show something
/// later. (run_charts.cpp)
std::vector<Chart> charts_of_run(const ShownRun& run, std::size_t record, bool live);

/// The same figure of several runs, a curve each; `record_of[i]` is the index of run i's record.
/// Runs with the same label share a colour.
std::vector<Chart> charts_of_several(std::span<const ShownRun> runs,
                                     std::span<const std::size_t> record_of);

}  // namespace hearsay::report
