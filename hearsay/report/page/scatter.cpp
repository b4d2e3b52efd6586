#include "hearsay/report/page/scatter.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/report/page/charts.h"
#include "hearsay/report/pareto.h"
#include "hearsay/report/run_figures.h"
#include "hearsay/train/metric_list.h"

namespace hearsay::report {

namespace {

constexpr const char* kFactor = "compression_factor";
constexpr double kSameFactor = 0.01;

bool is_factor(const sweep::Figure& figure) {
  const bool named = figure.key == kFactor || figure.key == "paper_compression_factor";
  return named && figure.against.empty() && figure.scale > 0;
}

/// How a sweep counts compression.
std::string factor_key(const sweep::Sweep& sweep) {
  const auto found = std::ranges::find_if(sweep.figures, is_factor);
  return found == sweep.figures.end() ? kFactor : found->key;
}

/// Mean over the runs of a row, until the evaluation that `figure` is read at; 0 if none has one.
/// Uncompressed final rounds lower the factor and must not be charged to earlier evaluations.
double mean_factor(const std::vector<std::size_t>& row, const Runs& runs, const std::string& key,
                   const sweep::Figure& figure) {
  const sweep::Figure its{.name = "", .key = key, .at = figure.at, .round = figure.round};
  double sum = 0, count = 0;
  for (std::size_t run : row) {
    if (!runs.runs[run].record.finished()) continue;
    const auto factor = figure_of(runs.runs[run].record, its);
    if (!factor) continue;
    sum += *factor;
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

/// The paper's factor at the same evaluation of a run; 0: none.
double printed_factor(const sweep::Sweep& sweep, const std::vector<SweepCell>& cells,
                      const sweep::Figure& figure) {
  for (std::size_t f = 0; f < sweep.figures.size(); ++f) {
    const sweep::Figure& its = sweep.figures[f];
    if (!is_factor(its) || its.at != figure.at || its.round != figure.round) continue;
    if (cells[f].printed) return *cells[f].printed / its.scale;
  }
  return 0;
}

std::string task_of(const Record& record) {
  const std::string &data = record.config().data, &partition = record.config().partition;
  return partition == "iid" || partition == "none" ? data : fmt::format("{}, {}", data, partition);
}

std::vector<Scatter::Front> fronts_of(const Scatter& scatter) {
  std::vector<Scatter::Front> fronts;
  for (const Scatter::Point& point : scatter.points) {
    if (std::ranges::count(fronts, point.task, &Scatter::Front::task) == 0) {
      fronts.push_back({point.task, {}});
    }
  }
  for (Scatter::Front& front : fronts) {
    std::vector<std::size_t> members;
    std::vector<double> x, y;
    for (std::size_t i = 0; i < scatter.points.size(); ++i) {
      const Scatter::Point& point = scatter.points[i];
      if (point.task != front.task) continue;
      members.push_back(i);
      x.push_back(point.x);
      y.push_back(scatter.less_is_better ? -point.y : point.y);
    }
    for (const std::size_t k : pareto_front(x, y, kSameFactor)) front.points.push_back(members[k]);
  }
  return fronts;
}

/// The metric that most runs have a number of; of several, the one that objectives name earlier,
/// then the first by key: in any case independent of the order of the runs.
std::optional<engine::Metric> common_metric(std::span<const ShownRun> runs) {
  struct Candidate {
    engine::Metric metric;
    std::size_t runs = 0, place = 0;
    auto rank() const { return std::tuple(-static_cast<double>(runs), place, metric.key); }
  };
  std::vector<Candidate> all;
  for (const engine::Metric& metric : metrics_of(runs)) {
    Candidate candidate{metric, 0, train::MetricList::kMost};
    for (const ShownRun& run : runs) {
      if (!run.record.figure(engine::keys_of(metric).mean)) continue;
      ++candidate.runs;
      const auto rows = run.record.metrics();
      const auto row = std::ranges::find(rows, metric.key, &engine::Metric::key) - rows.begin();
      candidate.place = std::min(candidate.place, static_cast<std::size_t>(row));
    }
    if (candidate.runs > 0) all.push_back(candidate);
  }
  const auto best = std::ranges::min_element(all, {}, &Candidate::rank);
  if (best == all.end()) return {};
  return best->metric;
}

void add_sweep(const ShownSweep& shown, const Runs& runs, const std::string& key,
               Scatter& scatter) {
  const sweep::Sweep& sweep = shown.record.sweep;
  const std::string factor = factor_key(sweep);
  for (std::size_t r = 0; r < sweep.rows.size(); ++r) {
    const auto& cells = shown.table.cells[r];
    for (std::size_t f = 0; f < sweep.figures.size(); ++f) {
      const sweep::Figure& figure = sweep.figures[f];
      if (figure.key != key || !figure.against.empty() || figure.scale == 0) continue;
      const double x = mean_factor(shown.rows[r], runs, factor, figure);
      const double printed_x = printed_factor(sweep, cells, figure);
      Scatter::Point point{sweep.rows[r].label, figure.name};
      if (cells[f].mean() && x <= 0 && !std::ranges::count(scatter.without_factor, point.name)) {
        scatter.without_factor.push_back(point.name);
      }
      if (const auto mean = cells[f].mean(); mean && x > 0) {
        point.x = x;
        point.y = *mean / figure.scale;
        point.low = (*mean - cells[f].spread()) / figure.scale;
        point.high = (*mean + cells[f].spread()) / figure.scale;
        point.task = task_of(runs.runs[shown.rows[r].front()].record);
        scatter.points.push_back(point);
      }
      point.x_is_ours = printed_x <= 0;
      point.x = point.x_is_ours ? x : printed_x;
      if (!cells[f].printed || point.x <= 0) continue;
      point.y = point.low = point.high = *cells[f].printed / figure.scale;
      scatter.printed.push_back(point);
    }
  }
}

}  // namespace

std::string Scatter::note() const {
  constexpr std::size_t kNamed = 6;
  std::string text;
  if (!without_factor.empty()) {
    const std::size_t named = std::min(without_factor.size(), kNamed);
    text =
        fmt::format("Not drawn, without a factor as nothing was sent: {}",
                    fmt::join(without_factor.begin(),
                              without_factor.begin() + static_cast<std::ptrdiff_t>(named), "; "));
    if (without_factor.size() > named) {
      text += fmt::format("; and {} more", without_factor.size() - named);
    }
    text += ".";
  }
  if (std::ranges::any_of(printed, &Point::x_is_ours)) {
    text += text.empty() ? "" : " ";
    text += "Where the paper prints no factor its mark stands at ours.";
  }
  return text;
}

Scatter make_scatter(const Runs& runs) {
  const std::optional<engine::Metric> metric = common_metric(runs.runs);
  if (!metric) return {};
  const std::string key = engine::keys_of(*metric).mean;
  Scatter scatter;
  scatter.less_is_better = metric->better == engine::Metric::Better::kSmaller;
  scatter.log = metric->log;
  scatter.y = mean_axis_title(*metric);
  if (scatter.log) scatter.y = with_log(scatter.y);
  std::vector<bool> in_sweep(runs.runs.size(), false);
  for (const ShownSweep& sweep : runs.sweeps) {
    add_sweep(sweep, runs, key, scatter);
    for (const auto& row : sweep.rows) {
      for (std::size_t run : row) in_sweep[run] = true;
    }
  }
  for (const SeedGroup& group : runs.groups) {
    const ShownRun& run = shown_of(runs, group);
    const auto x = run.record.figure(kFactor), y = run.record.figure(key);
    if (in_sweep[group.runs.front()] || !y) continue;
    if (!x || !(*x > 0)) {
      scatter.without_factor.push_back(run.label);
      continue;
    }
    const double off = run.record.deviation(key).value_or(0);
    scatter.points.push_back(
        {run.label, "", *x, *y, *y - off, *y + off, false, task_of(run.record)});
  }
  if (scatter.points.size() < 2) return {};
  scatter.fronts = fronts_of(scatter);
  return scatter;
}

}  // namespace hearsay::report
