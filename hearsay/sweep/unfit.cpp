#include "hearsay/sweep/unfit.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/toml_writer.h"
#include "hearsay/run/check.h"

namespace hearsay::sweep {

namespace {

constexpr std::size_t kMostNamed = 20;

/// The first of them, and how many more there are.
std::string cut(std::vector<std::string> parts, const char* between, const char* more) {
  const std::size_t left_out = parts.size() > kMostNamed ? parts.size() - kMostNamed : 0;
  parts.resize(parts.size() - left_out);
  if (left_out > 0) parts.push_back(fmt::format("and {} more{}", left_out, more));
  return fmt::format("{}", fmt::join(parts, between));
}

bool is_wanted(const Sweep& sweep, std::uint64_t seed) {
  return sweep.only_seeds.empty() || std::ranges::count(sweep.only_seeds, seed) > 0;
}

void add(Unfit& unfit, const std::string& reason, std::size_t row, std::uint64_t seed) {
  auto group = std::ranges::find(unfit.groups, reason, &Unfit::Group::reason);
  if (group == unfit.groups.end()) {
    group = unfit.groups.insert(group, Unfit::Group{reason, {}});
  }
  if (group->rows.empty() || group->rows.back().row != row) group->rows.push_back({row, {}});
  group->rows.back().seeds.push_back(seed);
}

/// The row, with its seeds if others of it are not among them.
std::string name_of(const Sweep& sweep, const Unfit::Row& unfit) {
  const SweepRow& row = sweep.rows[unfit.row];
  std::size_t all = 0;
  for (const train::RunOptions& config : row.configs) all += is_wanted(sweep, config.seed) ? 1 : 0;
  for (const auto& [seed, reason] : row.refused) all += is_wanted(sweep, seed) ? 1 : 0;
  if (unfit.seeds.size() == all) return row.label;
  return fmt::format("{}, seed{} {}", row.label, unfit.seeds.size() > 1 ? "s" : "",
                     fmt::join(unfit.seeds, ", "));
}

std::string group_text(const Sweep& sweep, const Unfit::Group& group) {
  std::vector<std::string> names;
  std::set<std::size_t> lines;
  std::size_t runs = 0;
  for (const Unfit::Row& row : group.rows) {
    names.push_back(name_of(sweep, row));
    lines.insert(sweep.rows[row.row].line);
    runs += row.seeds.size();
  }
  const bool one_line = lines.size() == 1 && *lines.begin() > 0;
  return fmt::format("  {}\n    {}{} run{}: {}", group.reason,
                     one_line ? fmt::format("line {}, ", *lines.begin()) : "", runs,
                     runs == 1 ? "" : "s", cut(std::move(names), "; ", ""));
}

/// Labels of every name of a place: all combinations of them.
using Box = std::vector<std::vector<std::string>>;

/// The places of these rows as few boxes: those that differ in one name alone are joined.
std::vector<Box> boxes_of(const Sweep& sweep, const std::set<std::size_t>& rows) {
  std::vector<Box> boxes;
  for (const std::size_t r : rows) {
    Box& box = boxes.emplace_back();
    for (const auto& [name, label] : sweep.rows[r].place) box.push_back({label});
  }
  const std::size_t names = boxes.empty() ? 0 : boxes.front().size();
  for (std::size_t name = names; name-- > 0;) {
    std::vector<Box> joined;
    std::map<Box, std::size_t> known;  // by the box without this name
    for (const Box& box : boxes) {
      Box others = box;
      others[name].clear();
      const auto [found, is_new] = known.emplace(std::move(others), joined.size());
      if (is_new) {
        joined.push_back(box);
      } else {
        std::ranges::copy(box[name], std::back_inserter(joined[found->second][name]));
      }
    }
    boxes = std::move(joined);
  }
  return boxes;
}

/// The name of an axis as a key of TOML.
std::string key_of(const std::string& name) {
  const bool bare = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return bare ? name : quoted_toml(name);
}

/// {row = "a", skew = ["0", "0.8"]}; names with all their labels are left out.
std::string exclude_text(const Sweep& sweep, const Box& box) {
  std::string text;
  for (std::size_t k = 0; k < box.size(); ++k) {
    std::set<std::string> all;
    for (const SweepRow& row : sweep.rows) all.insert(row.place[k].second);
    if (box[k].size() == all.size()) continue;
    std::vector<std::string> labels;
    for (const std::string& label : box[k]) labels.push_back(quoted_toml(label));
    text += fmt::format(
        "{}{} = {}", text.empty() ? "" : ", ", key_of(sweep.rows.front().place[k].first),
        labels.size() == 1 ? labels.front() : fmt::format("[{}]", fmt::join(labels, ", ")));
  }
  return text;
}

/// Lines for the file that leave out these rows; empty if they are all.
std::string remedy(const Sweep& sweep, const std::set<std::size_t>& rows) {
  std::vector<std::string> lines;
  for (const Box& box : boxes_of(sweep, rows)) {
    const std::string line = exclude_text(sweep, box);
    if (line.empty()) return "";
    lines.push_back(fmt::format("    {{{}}},", line));
  }
  return lines.size() > kMostNamed
             ? ""
             : fmt::format(
                   "To train the others, leave these out in the file:\n  exclude = [\n"
                   "{}\n  ]\n",
                   fmt::join(lines, "\n"));
}

}  // namespace

Unfit find_unfit(const Sweep& sweep, const SweepRuns& runs) {
  Unfit unfit;
  run::Checks checks;
  for (std::size_t r = 0; r < sweep.rows.size(); ++r) {
    const SweepRow& row = sweep.rows[r];
    if (!row.wanted) continue;
    for (const auto& [seed, reason] : row.refused) {
      if (!is_wanted(sweep, seed)) continue;
      add(unfit, reason, r, seed);
      ++unfit.count;
    }
    for (const std::size_t i : runs.of_row[r]) {
      const SweepRun& run = runs.runs[i];
      if (!is_wanted(sweep, run.config.seed) || state_of(run) != RunState::kOpen) continue;
      const std::string reason = checks.why_not(run.config);
      if (reason.empty()) continue;
      add(unfit, reason, r, run.config.seed);
      if (unfit.runs.insert(i).second) ++unfit.count;
    }
  }
  return unfit;
}

std::string unfit_text(const Sweep& sweep, const SweepRuns& runs, const Unfit& unfit) {
  if (unfit.count == 0) return "";
  const std::size_t all = wanted_runs(runs).size() + unfit.count - unfit.runs.size();
  std::string text = fmt::format("[{}] {} of {} runs cannot work, so nothing is trained:\n",
                                 sweep.file, unfit.count, all);
  std::set<std::size_t> rows;
  std::vector<std::string> groups;
  for (const Unfit::Group& group : unfit.groups) {
    groups.push_back(group_text(sweep, group));
    for (const Unfit::Row& row : group.rows) rows.insert(row.row);
  }
  text += cut(std::move(groups), "\n", " reasons") + "\n" + remedy(sweep, rows);
  return text +
         "Or give them what fits: a setting of a row outranks the axes', and 'when' sets one for "
         "some combinations (docs/sweeps.md)";
}

}  // namespace hearsay::sweep
