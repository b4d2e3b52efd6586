#include "hearsay/report/seeds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/report/run_names.h"
#include "hearsay/report/spread.h"
#include "hearsay/report/table.h"

namespace hearsay::report {

namespace {

using OrderedJson = nlohmann::ordered_json;

/// The columns of which charts of several runs are made (page/charts.h).
std::set<std::string> keys_of_charts(const Record& record) {
  std::set<std::string> keys{"loss", "divergence", "mass_drift"};
  for (const engine::Metric& metric : record.metrics()) {
    const engine::MetricKeys names = engine::keys_of(metric);
    keys.insert(names.mean);
    if (metric.on_samples) keys.insert(names.validation_mean);
  }
  return keys;
}

/// For each run the lines of the rounds at which all were evaluated.
std::vector<std::vector<std::size_t>> common_lines(std::span<const Record* const> runs) {
  std::vector<std::vector<std::size_t>> lines(runs.size());
  const auto first = runs.front()->columns().figure("round");
  for (std::size_t k = 0; k < first.size(); ++k) {
    std::vector<std::size_t> at;
    for (const Record* run : runs) {
      const auto rounds = run->columns().figure("round");  // ascending
      const auto found = std::ranges::lower_bound(rounds, first[k]);
      if (found == rounds.end() || *found != first[k]) break;
      at.push_back(static_cast<std::size_t>(found - rounds.begin()));
    }
    if (at.size() < runs.size()) continue;
    for (std::size_t i = 0; i < runs.size(); ++i) lines[i].push_back(at[i]);
  }
  return lines;
}

/// Mean and deviation of one column at these lines.
struct Means {
  std::vector<double> mean, low, high;
};

Means means_of(std::span<const Record* const> runs, const std::string& key,
               const std::vector<std::vector<std::size_t>>& lines) {
  Means means;
  for (std::size_t k = 0; k < lines.front().size(); ++k) {
    std::vector<double> values;
    double other = 0;  // a sentinel of Columns, if any run has one
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto column = runs[i]->columns().figure(key);
      const double value = column.empty() ? Columns::kAbsent : column[lines[i][k]];
      if (std::isfinite(value)) {
        values.push_back(value);
      } else if (!std::isnan(other)) {
        other = value;
      }
    }
    const Spread spread = spread_of(values);
    const bool all = values.size() == runs.size();
    means.mean.push_back(all ? spread.mean : other);
    means.low.push_back(all ? spread.mean - spread.deviation : other);
    means.high.push_back(all ? spread.mean + spread.deviation : other);
  }
  return means;
}

Columns mean_columns(std::span<const Record* const> runs) {
  const auto lines = common_lines(runs);
  std::map<std::string, std::vector<double>> figures;
  const auto any = [&](const std::string& key) {
    return std::ranges::any_of(
        runs, [&](const Record* run) { return !run->columns().figure(key).empty(); });
  };
  for (const char* key : {"round", "bytes_total", "global_bytes_total", "simulated_seconds"}) {
    if (any(key)) figures[key] = means_of(runs, key, lines).mean;
  }
  for (const std::string& key : keys_of_charts(*runs.front())) {
    if (!any(key)) continue;
    Means means = means_of(runs, key, lines);
    figures[key] = std::move(means.mean);
    if (runs.size() < 2) continue;
    figures[key + kLowSuffix] = std::move(means.low);
    figures[key + kHighSuffix] = std::move(means.high);
  }
  return Columns(lines.front().size(), std::move(figures), {});
}

OrderedJson mean_summary(std::span<const Record* const> runs) {
  std::vector<OrderedJson> all;
  for (const Record* run : runs) all.push_back(OrderedJson::parse(run->summary_json()));
  OrderedJson mean = OrderedJson::object(), deviation = OrderedJson::object(),
              seeds = OrderedJson::array();
  const auto add = [&](const std::string& key, const auto& value_of) {
    std::vector<double> values;
    for (const OrderedJson& one : all) {
      if (const auto value = value_of(one)) values.push_back(*value);
    }
    if (values.size() < all.size()) return;
    const Spread spread = spread_of(values);
    mean[key] = spread.mean;
    if (spread.n > 1) deviation[key] = spread.deviation;
  };
  const auto number = [](const OrderedJson& one, const std::string& key) {
    const auto found = one.find(key);
    return found != one.end() && found->is_number() ? std::optional(found->get<double>())
                                                    : std::nullopt;
  };
  for (const auto& [key, value] : all.front().items()) {
    if (!value.is_number() || key == "seed") continue;
    add(key, [&, name = key](const OrderedJson& one) { return number(one, name); });
  }
  add(kAllBytes, [&](const OrderedJson& one) {
    auto sum = number(one, "bytes_total");
    if (sum) *sum += number(one, "global_bytes_total").value_or(0);
    return sum;
  });
  mean.erase(std::string(kAllBytes));  // which tables add up
  if (const auto found = all.front().find("metrics"); found != all.front().end()) {
    mean["metrics"] = *found;
  }
  for (const Record* run : runs) seeds.push_back(run->config().seed);
  mean["n"] = runs.size();
  mean["seeds"] = std::move(seeds);
  mean["deviation"] = std::move(deviation);
  return mean;
}

/// Whether the runs are one setting with a seed each.
bool are_seeds(const Runs& runs, const std::vector<std::size_t>& group) {
  std::set<std::uint64_t> seeds;
  for (const std::size_t run : group) seeds.insert(runs.runs[run].record.config().seed);
  return seeds.size() == group.size();
}

std::vector<SeedGroup> make_groups(const Runs& runs) {
  std::map<std::string, std::size_t> place;  // of a setting among the groups
  std::vector<std::vector<std::size_t>> sets;
  for (std::size_t i = 0; i < runs.runs.size(); ++i) {
    const ShownRun& run = runs.runs[i];
    const bool alone = run.place || !run.devices.empty();
    const std::string setting = alone ? fmt::format("run {}", i) : setting_of(run.record.config());
    const auto [found, is_new] = place.emplace(setting, sets.size());
    if (is_new) sets.emplace_back();
    sets[found->second].push_back(i);
  }
  std::vector<SeedGroup> groups;
  for (std::vector<std::size_t>& set : sets) {
    if (are_seeds(runs, set)) {
      std::ranges::sort(set, {}, [&](std::size_t i) { return runs.runs[i].record.config().seed; });
      groups.push_back({std::move(set), {}});
    } else {
      for (const std::size_t run : set) groups.push_back({{run}, {}});
    }
  }
  return groups;
}

/// Labels of the groups of runs that are not in a sweep.
void name_groups(Runs& runs, const std::vector<SeedGroup>& groups) {
  std::set<std::size_t> in_sweep;
  for (const ShownSweep& sweep : runs.sweeps) {
    for (const auto& row : sweep.rows) in_sweep.insert(row.begin(), row.end());
  }
  std::vector<const SeedGroup*> own;
  std::vector<train::RunOptions> configs;
  for (const SeedGroup& group : groups) {
    if (in_sweep.contains(group.runs.front())) continue;
    const ShownRun& first = runs.runs[group.runs.front()];
    if (first.place || !first.devices.empty()) continue;
    own.push_back(&group);
    configs.push_back(first.record.config());
  }
  if (own.size() == 1 && own.front()->runs.size() == 1) return;  // its directory
  const std::vector<std::string> names = names_of(configs);
  const bool alike = std::set<std::string>(names.begin(), names.end()).size() == 1;
  for (std::size_t g = 0; g < own.size(); ++g) {
    const bool unique = std::ranges::count(names, names[g]) == 1;
    for (const std::size_t i : own[g]->runs) {
      std::string& label = runs.runs[i].label;
      if (unique) {
        label = names[g];
      } else if (!alike) {
        label = fmt::format("{} ({})", names[g], label);
      }
    }
  }
}

/// The figures of a sweep, by row.
OrderedJson sweep_json(const ShownSweep& shown) {
  const sweep::Sweep& sweep = shown.record.sweep;
  OrderedJson rows = OrderedJson::array();
  for (std::size_t r = 0; r < sweep.rows.size(); ++r) {
    OrderedJson figures = OrderedJson::object(), place = OrderedJson::object();
    for (const auto& [axis, label] : sweep.rows[r].place) place[axis] = label;
    for (std::size_t f = 0; f < sweep.figures.size(); ++f) {
      const SweepCell& cell = shown.table.cells[r][f];
      OrderedJson one = OrderedJson::object();
      if (const auto mean = cell.mean()) one["mean"] = *mean;
      if (cell.ours.size() > 1) one["deviation"] = cell.spread();
      if (cell.printed) one["paper"] = *cell.printed;
      if (!one.empty()) figures[sweep.figures[f].name] = std::move(one);
    }
    rows.push_back({{"label", sweep.rows[r].label},
                    {"place", std::move(place)},
                    {"n", shown.table.finished[r]},
                    {"figures", std::move(figures)}});
  }
  return {{"title", sweep.title}, {"rows", std::move(rows)}};
}

}  // namespace

Record mean_record(const std::string& name, std::span<const Record* const> runs) {
  const bool finished = std::ranges::all_of(runs, &Record::finished);
  return Record(name, runs.front()->config(), finished, mean_columns(runs),
                mean_summary(runs).dump());
}

void group_seeds(Runs& runs) {
  runs.groups = make_groups(runs);
  name_groups(runs, runs.groups);
  for (SeedGroup& group : runs.groups) {
    if (group.runs.size() < 2) continue;
    std::vector<const Record*> counted;
    for (const std::size_t i : group.runs) {
      if (runs.runs[i].record.finished()) counted.push_back(&runs.runs[i].record);
    }
    if (counted.empty()) {
      for (const std::size_t i : group.runs) counted.push_back(&runs.runs[i].record);
    }
    const std::string n = counted.size() == group.runs.size()
                              ? fmt::format("{}", counted.size())
                              : fmt::format("{} of {}", counted.size(), group.runs.size());
    const std::string label = fmt::format("{}, {} seeds", runs.runs[group.runs.front()].label, n);
    group.mean = ShownRun{.record = mean_record(label, counted),
                          .label = label,
                          .controls = {},
                          .in_sweep = runs.runs[group.runs.front()].in_sweep};
  }
}

const ShownRun& shown_of(const Runs& runs, const SeedGroup& group) {
  return group.mean ? *group.mean : runs.runs[group.runs.front()];
}

std::string results_json(const Runs& runs) {
  OrderedJson all = OrderedJson::array();
  for (const SeedGroup& group : runs.groups) {
    const ShownRun& shown = shown_of(runs, group);
    OrderedJson one;
    one["name"] = runs.runs[group.runs.front()].label;
    one["directories"] = OrderedJson::array();
    for (const std::size_t i : group.runs) one["directories"].push_back(runs.runs[i].record.name());
    const OrderedJson summary = OrderedJson::parse(shown.record.summary_json());
    OrderedJson numbers = OrderedJson::object();
    for (const auto& [key, value] : summary.items()) {
      if (value.is_number() && key != "n" && key != "seed") numbers[key] = value;
    }
    one["n"] = summary.value("n", 1);
    one["seeds"] = summary.contains("seeds") ? summary.at("seeds")
                                             : OrderedJson::array({shown.record.config().seed});
    one["finished"] = shown.record.finished();
    one["mean"] = std::move(numbers);
    if (summary.contains("deviation")) {
      one["deviation"] = summary.at("deviation");
      one["deviation"].erase(std::string(kAllBytes));
    }
    all.push_back(std::move(one));
  }
  OrderedJson results{{"v", 1}, {"runs", std::move(all)}};
  for (const ShownSweep& sweep : runs.sweeps) results["sweeps"].push_back(sweep_json(sweep));
  return results.dump(1, ' ', true, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace hearsay::report
