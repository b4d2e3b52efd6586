#include "hearsay/report/scatter.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/report/pareto.h"

namespace hearsay::report {

namespace {

constexpr const char* kFactor = "compression_factor";
constexpr double kSameFactor = 0.01;

/// The figure of a sweep that is a compression factor, if it has one.
std::optional<std::size_t> factor_of(const train::Sweep& sweep) {
  for (std::size_t f = 0; f < sweep.figures.size(); ++f) {
    const train::Figure& figure = sweep.figures[f];
    const bool is_factor = figure.key == kFactor || figure.key == "paper_compression_factor";
    if (is_factor && figure.against.empty() && figure.scale > 0) return f;
  }
  return {};
}

/// Of the runs of a row, as their summaries have it; 0 if none has.
double mean_factor(const std::vector<std::size_t>& row, const Runs& runs) {
  double sum = 0, count = 0;
  for (std::size_t run : row) {
    const auto factor = runs.runs[run].record.figure(kFactor);
    if (!factor) continue;
    sum += *factor;
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

void add_sweep(const ShownSweep& shown, const Runs& runs, const std::string& key,
               Scatter& scatter) {
  const train::Sweep& sweep = shown.record.sweep;
  const auto factor = factor_of(sweep);
  for (std::size_t r = 0; r < sweep.rows.size(); ++r) {
    const auto& cells = shown.table.cells[r];
    const double scale = factor ? sweep.figures[*factor].scale : 1;
    const double printed_x =
        factor ? cells[*factor].printed.value_or(0) / scale : 0;  // 0: there is none
    double x = factor ? cells[*factor].mean().value_or(0) / scale : 0;
    if (x <= 0) x = mean_factor(shown.rows[r], runs);
    for (std::size_t f = 0; f < sweep.figures.size(); ++f) {
      const train::Figure& figure = sweep.figures[f];
      if (figure.key != key || !figure.against.empty() || figure.scale == 0) continue;
      Scatter::Point point{sweep.rows[r].label, figure.name};
      if (cells[f].mean() && x <= 0 && !std::ranges::count(scatter.without_factor, point.name)) {
        scatter.without_factor.push_back(point.name);
      }
      if (const auto mean = cells[f].mean(); mean && x > 0) {
        const auto [low, high] = std::ranges::minmax(cells[f].ours);
        point.x = x;
        point.y = *mean / figure.scale;
        point.low = low / figure.scale;
        point.high = high / figure.scale;
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
  const auto has = [&](const char* key) {
    return std::ranges::any_of(
        runs.runs, [&](const ShownRun& run) { return run.record.figure(key).has_value(); });
  };
  Scatter scatter;
  scatter.less_is_better = !has("accuracy_mean");
  const char* const key = scatter.less_is_better ? "distance_to_optimum" : "accuracy_mean";
  scatter.y = scatter.less_is_better ? "Mean distance to the optimum (no unit, log)"
                                     : "Mean test accuracy (%)";
  std::vector<bool> in_sweep(runs.runs.size(), false);
  for (const ShownSweep& sweep : runs.sweeps) {
    add_sweep(sweep, runs, key, scatter);
    for (const auto& row : sweep.rows) {
      for (std::size_t run : row) in_sweep[run] = true;
    }
  }
  for (std::size_t i = 0; i < runs.runs.size(); ++i) {
    const Record& record = runs.runs[i].record;
    const auto x = record.figure(kFactor), y = record.figure(key);
    if (in_sweep[i] || !y) continue;
    if (!x || !(*x > 0)) {
      scatter.without_factor.push_back(runs.runs[i].label);
      continue;
    }
    scatter.points.push_back({runs.runs[i].label, "", *x, *y, *y, *y});
  }
  if (scatter.points.size() < 2) return {};
  std::vector<double> x, y;
  for (const Scatter::Point& point : scatter.points) {
    x.push_back(point.x);
    y.push_back(scatter.less_is_better ? -point.y : point.y);
  }
  scatter.front = pareto_front(x, y, kSameFactor);
  return scatter;
}

}  // namespace hearsay::report
