#include "hearsay/report/page/looks.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace hearsay::report {

namespace {

struct Axis {
  std::string name;
  std::size_t place = 0;            ///< in SweepRow::place
  std::vector<std::string> values;  ///< in the order of the rows
};

/// The axes with several values; none if the rows do not have the same ones, or if there are more
/// values than looks of any kind.
std::vector<Axis> axes_of(const std::vector<sweep::SweepRow>& rows) {
  std::vector<Axis> axes;
  for (const sweep::SweepRow& row : rows) {
    if (axes.empty()) {
      for (std::size_t k = 0; k < row.place.size(); ++k) {
        axes.push_back({row.place[k].first, k, {}});
      }
    }
    if (row.place.size() != axes.size()) return {};
    for (Axis& axis : axes) {
      const auto& [name, value] = row.place[axis.place];
      if (name != axis.name) return {};
      if (std::ranges::count(axis.values, value) == 0) axis.values.push_back(value);
      if (axis.values.size() > kMarks) return {};
    }
  }
  std::erase_if(axes, [](const Axis& axis) { return axis.values.size() < 2; });
  return axes;
}

}  // namespace

Looks looks_of(const Runs& runs) {
  if (runs.sweeps.size() != 1) return {};
  const std::vector<sweep::SweepRow>& rows = runs.sweeps.front().record.sweep.rows;
  std::vector<Axis> axes = axes_of(rows);
  constexpr std::array<std::size_t, 3> kMost{kColours, kDashes, kMarks};
  if (axes.size() < 2 || axes.size() > kMost.size()) return {};
  std::ranges::stable_sort(axes, std::ranges::greater(),
                           [](const Axis& axis) { return axis.values.size(); });
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].values.size() > kMost[k]) return {};
  }
  Looks looks;
  for (const sweep::SweepRow& row : rows) {
    std::array<std::size_t, 3> at{};
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const std::string& value = row.place[axes[k].place].second;
      at[k] = static_cast<std::size_t>(std::ranges::find(axes[k].values, value) -
                                       axes[k].values.begin());
    }
    Looks::Look look{.colour = 1 + at[0],
                     .dash = at[1],
                     .mark = axes.size() == 3 ? at[2] : 1 + at[0],
                     .name = ""};
    for (const auto& [name, value] : row.place) {
      look.name += (look.name.empty() ? "" : ", ") + value;
    }
    looks.of_label[row.label] = std::move(look);
  }
  constexpr std::array kWays{"Colour", "dash", "mark"};
  for (std::size_t k = 0; k < axes.size(); ++k) {
    looks.note += fmt::format("{}{}: {}", k == 0 ? "" : "; ", kWays[k], axes[k].name);
  }
  looks.note += ".";
  return looks;
}

void Looks::apply(std::vector<Chart>& charts) const {
  for (Chart& chart : charts) {
    bool any = false;
    for (Curve& curve : chart.curves) {
      const auto found = of_label.find(curve.name);
      if (found == of_label.end()) continue;
      any = true;
      curve.colour = found->second.colour;
      curve.dash = found->second.dash;
      curve.mark = found->second.mark;
      curve.name = found->second.name;
    }
    if (any) chart.note += (chart.note.empty() ? "" : " ") + note;
  }
}

void Looks::apply(Scatter& scatter) const {
  const auto rename = [&](std::string& name) {
    if (const auto found = of_label.find(name); found != of_label.end()) name = found->second.name;
  };
  for (auto* points : {&scatter.points, &scatter.printed}) {
    for (Scatter::Point& point : *points) rename(point.name);
  }
  for (std::string& name : scatter.without_factor) rename(name);
}

}  // namespace hearsay::report
