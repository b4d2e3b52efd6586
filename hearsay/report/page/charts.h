#pragma once

#include <span>
#include <string>
#include <vector>

#include "hearsay/report/record.h"
#include "hearsay/report/runs.h"

namespace hearsay::report {

/// One column of a record over its evaluations, or one entry of a column of lists.
struct Curve {
  /// How it is drawn: kBand fills the area between this curve and the next.
  enum class Look { kPlain, kStrong, kBand };

  std::string name;
  std::size_t record = 0;  ///< index in the page's records
  std::string key;         ///< of metrics.jsonl; "bytes": those of edges and of global averages
  int entry = -1;          ///< of a list; -1: not a list
  std::size_t colour = 0;  ///< 0 for the main one, 1 .. kColours for others
  std::size_t dash = 0;    ///< 0: none; .. kDashes - 1; a second way to tell curves apart
  Look look = Look::kPlain;
  std::size_t mark = 0;  ///< .. kMarks - 1; a third
};

/// The number of colours besides colour 0; they are distinguishable for colour-blind readers too.
constexpr std::size_t kColours = 7;
constexpr std::size_t kDashes = 4;
constexpr std::size_t kMarks = 8;
/// Dash of colour 1, 2, ...: similar colours have different dashes, and colours similar to colour 0
/// (ink) do not have dashes 0 and 1, which curves of ink use (palette_test.cpp).
constexpr std::size_t kDashOfColour[kColours] = {0, 2, 1, 3, 3, 2, 1};

struct Chart {
  std::string id;  ///< "loss", or the key of a metric
  std::string title;
  std::string note;    ///< shown below the title; may be empty
  std::string y;       ///< title of the vertical axis, with its unit if it has one
  bool log = false;    ///< its initial scale
  std::string axis{};  ///< "bytes": always against these; empty: as the reader chooses
  std::vector<Curve> curves;
};

/// Cycles through the colours, each with its dash and mark; every further cycle uses the next dash,
/// and after 28 curves the next mark. Two curves that coincide are both visible.
void paint(Curve& curve, std::size_t number);

bool has_some(std::span<const double> values);  ///< any finite value

/// One number per evaluation, with kAbsent and kNotFinite as in Columns. Minibatch losses of round
/// 0, before any minibatch, are absent; push-sum weights that a line omits are 1.
std::vector<double> values_of(const Curve& curve, const Record& record);

/// "Test accuracy", "Distance to the optimum": the beginning of a metric's titles.
std::string title_of(const engine::Metric& metric);
/// "Mean test accuracy (%)", with `before` = "Mean test": the title of its axis.
std::string axis_title(std::string_view before, const engine::Metric& metric);
/// "Distance (m, log)", "Loss (log)": the title of an axis that is logarithmic.
std::string with_log(std::string title);
/// The axis title of a mean over peers.
std::string mean_axis_title(const engine::Metric& metric);
/// The chart of a metric on the validation samples, without curves; the first one's id is
/// "validation", that of others "validation-KEY".
Chart validation_chart(const engine::Metric& metric, bool is_first);

/// All charts of a run whose record has that index; its baselines have the next ones. Empty charts
/// are omitted; with `live` those are kept that may get data later. (run_charts.cpp)
std::vector<Chart> charts_of_run(const ShownRun& run, std::size_t record, bool live);

/// The same quantity of several runs, one curve each; `record_of[i]` is the index of run i's
/// record. Runs with the same label share a colour. The mean of several seeds (seeds.h) has a band
/// of the same name, of one standard deviation to either side.
std::vector<Chart> charts_of_several(std::span<const ShownRun* const> runs,
                                     std::span<const std::size_t> record_of);

}  // namespace hearsay::report
