#include "hearsay/report/joined_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/text.h"
#include "hearsay/net/frame.h"

namespace hearsay::report {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostCells = std::size_t{1} << 20;  ///< lines times devices

/// How a figure of several devices becomes one.
enum class How { kMean, kLeast, kGreatest, kSum, kLatest, kNot };

How how_of(std::string_view key) {
  constexpr std::array kSums = {"bytes_total",      "global_bytes_total", "paper_bytes_total",
                                "edge_rounds",      "edges_skipped",      "messages_taken_back",
                                "wire_bytes_total", "messages_settled"};
  constexpr std::array kNots = {"round", "divergence", "divergence_per_dim", "mass_drift",
                                "simulated_seconds"};
  if (std::ranges::count(kSums, key) > 0) return How::kSum;
  if (std::ranges::count(kNots, key) > 0 || key.ends_with("_of_average")) return How::kNot;
  if (key == "live_peers") return How::kLatest;
  if (key.ends_with("_min")) return How::kLeast;
  if (key.ends_with("_max") || key == "seconds") return How::kGreatest;
  return How::kMean;
}

/// Figure `key` of a device by line, each the last that is known; kAbsent before the first. Counts
/// go on from life to life.
std::vector<double> known_values(const Columns& columns, const std::string& key) {
  const auto found = columns.figure(key);
  const bool counts = how_of(key) == How::kSum;
  std::vector<double> values(columns.lines(), Columns::kAbsent);
  double last = Columns::kAbsent, before = 0, earlier_lives = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (!std::isnan(found[k])) {
      if (counts && found[k] < before) earlier_lives += before;
      before = found[k];
      last = counts ? earlier_lives + found[k] : found[k];
    }
    values[k] = last;
  }
  return values;
}

/// Joins the columns of the devices of a run.
class Joiner {
 public:
  explicit Joiner(const std::vector<Device>& devices, std::size_t peers)
      : devices_(devices), peers_(peers) {
    std::set<double> clocks;
    for (const Device& device : devices_) {
      const auto rounds = device.record.columns().figure("round");
      clocks.insert(rounds.begin(), rounds.end());
    }
    clocks_.assign(clocks.begin(), clocks.end());
    thin_out();
    for (const Device& device : devices_) place_lines(device.record.columns());
  }

  Columns join() {
    std::set<std::string> keys;
    for (const Device& device : devices_) {
      for (std::string& key : device.record.columns().keys()) {
        if (keys.size() < Columns::kMostFigures) keys.insert(std::move(key));
      }
    }
    figures_["round"] = clocks_;
    for (const std::string& key : keys) {
      if (how_of(key) != How::kNot) add(key);
    }
    for (const engine::Metric& metric : devices_.front().record.metrics()) {
      const engine::MetricKeys names = engine::keys_of(metric);
      if (metric.by_peer) add_list(names.by_peer, names.mean);
    }
    add_list("push_sum", "push_sum_min");
    add_list("rates", "rates_min");
    return Columns(clocks_.size(), std::move(figures_), std::move(lists_));
  }

 private:
  static constexpr std::size_t kNoLine = ~std::size_t{0};

  /// Every so many clocks, and the last.
  void thin_out() {
    const std::size_t most = std::max<std::size_t>(2, kMostCells / devices_.size());
    const std::size_t step = (clocks_.size() + most - 1) / most;
    if (step <= 1) return;
    std::vector<double> kept;
    for (std::size_t k = clocks_.size() - 1; k < clocks_.size(); k -= step) {
      kept.push_back(clocks_[k]);
    }
    std::ranges::reverse(kept);
    clocks_ = std::move(kept);
  }

  /// For each clock the last line until then.
  void place_lines(const Columns& columns) {
    const auto rounds = columns.figure("round");
    std::vector<std::size_t>& lines = line_of_.emplace_back();
    std::size_t next = 0;
    for (const double clock : clocks_) {
      while (next < rounds.size() && rounds[next] <= clock) ++next;
      lines.push_back(next == 0 ? kNoLine : next - 1);
    }
  }

  /// The values of a device at all clocks.
  std::vector<double> at_clocks(std::size_t device, const std::string& key) const {
    const std::vector<double> values = known_values(devices_[device].record.columns(), key);
    std::vector<double> all;
    for (const std::size_t line : line_of_[device]) {
      all.push_back(line == kNoLine ? Columns::kAbsent : values[line]);
    }
    return all;
  }

  /// Whether a device has a line since the clock before.
  bool is_fresh(std::size_t device, std::size_t k) const {
    const std::size_t line = line_of_[device][k];
    return line != kNoLine && (k == 0 || line_of_[device][k - 1] != line);
  }

  void add(const std::string& key) {
    const How how = how_of(key);
    std::vector<double> joined(clocks_.size(), Columns::kAbsent);
    std::vector<double> counted(clocks_.size(), 0);
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      const std::vector<double> values = at_clocks(d, key);
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (std::isnan(values[k]) || (how == How::kLatest && !is_fresh(d, k))) continue;
        double& all = joined[k];
        if (counted[k]++ == 0) {
          all = values[k];
        } else if (how == How::kLeast) {
          all = std::min(all, values[k]);
        } else if (how == How::kGreatest) {
          all = std::max(all, values[k]);
        } else {
          all += values[k];
        }
      }
    }
    for (std::size_t k = 0; k < joined.size(); ++k) {
      if (counted[k] > 0 && (how == How::kMean || how == How::kLatest)) joined[k] /= counted[k];
      if (std::isinf(joined[k])) joined[k] = Columns::kNotFinite;
    }
    // As a kLeast, a value that is not finite is not seen; the mean has it.
    if (std::ranges::any_of(counted, [](double n) { return n > 0; })) {
      figures_[key] = std::move(joined);
    }
  }

  void add_list(const std::string& list, const std::string& key) {
    if (peers_ > Columns::kMostEntries) return;
    std::vector<std::vector<double>> entries(peers_,
                                             std::vector<double>(clocks_.size(), Columns::kAbsent));
    bool any = false;
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      entries[devices_[d].slot] = at_clocks(d, key);
      any |= !devices_[d].record.columns().figure(key).empty();
    }
    if (any) lists_[list] = std::move(entries);
  }

  const std::vector<Device>& devices_;
  const std::size_t peers_;
  std::vector<double> clocks_;
  std::vector<std::vector<std::size_t>> line_of_;  ///< by device and clock
  std::map<std::string, std::vector<double>> figures_;
  std::map<std::string, std::vector<std::vector<double>>> lists_;
};

/// A table of numbers by peer of which each device has its own row, such as `class_counts`.
OrderedJson own_rows(const std::vector<Device>& devices, std::size_t peers, const char* key) {
  std::vector<std::vector<double>> rows(peers);
  std::size_t width = 0;
  for (const Device& device : devices) {
    const auto table = device.record.table(key);
    if (table.empty()) continue;
    // Of all peers, or of this one alone.
    if (table.size() == peers) rows[device.slot] = table[device.slot];
    if (table.size() == 1) rows[device.slot] = table.front();
    width = std::max(width, rows[device.slot].size());
  }
  if (width == 0) return {};
  for (auto& row : rows) row.resize(width, 0);
  return rows;
}

/// The summary of a joined run.
OrderedJson summary_of(const std::vector<Device>& devices, const Columns& columns,
                       std::size_t peers) {
  OrderedJson s;
  s["peers"] = peers;
  const auto last = [&](const std::string& key) { return last_of(columns, key); };
  for (const std::string& key : columns.keys()) {
    if (std::isfinite(last(key))) s[key] = last(key);
  }
  s["rounds"] = last("round");
  double dim = 0;
  std::vector<double> bytes_by_peer(peers, 0);
  for (const Device& device : devices) {
    const Record& record = device.record;
    dim = std::max(dim, record.figure("dim").value_or(0));
    for (const char* key : {"training_rounds", "dim"}) {
      if (const auto value = record.figure(key)) s[key] = *value;
    }
    const double bytes = bytes_of(record.columns());
    if (std::isfinite(bytes)) bytes_by_peer[device.slot] = bytes;
    for (const auto& row : record.table("bytes_by_edge")) {
      if (row.size() == 3 && row[0] == device.slot) s["bytes_by_edge"].push_back(row);
    }
    if (const auto names = record.class_names(); !names.empty()) s["class_names"] = names;
  }
  s["bytes_by_peer"] = bytes_by_peer;
  const double bytes = last("bytes_total"), edge_rounds = last("edge_rounds");
  if (bytes > 0 && edge_rounds > 0 && std::isfinite(bytes + edge_rounds)) {
    s["bytes_per_edge_round"] = bytes / edge_rounds;
    if (dim > 0) s["compression_factor"] = 4 * dim * edge_rounds / bytes;
  }
  if (OrderedJson counts = own_rows(devices, peers, "class_counts"); !counts.empty()) {
    s["class_counts"] = std::move(counts);
  }
  std::vector<std::string> names;
  for (std::size_t peer = 0; peer < peers; ++peer) names.push_back(fmt::format("peer {}", peer));
  for (const Device& device : devices) names[device.slot] = device.name;
  s["peer_names"] = names;
  s["metrics"] = OrderedJson::parse(train::describe(devices.front().record.metrics()));
  return s;
}

/// "a, b, c and 4 more".
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMost)));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     names.size() > kMost ? fmt::format(" and {} more", names.size() - kMost) : "");
}

std::vector<std::string> notes_on(const std::vector<Device>& devices, std::size_t peers) {
  std::vector<std::string> notes, unfinished;
  for (const Device& device : devices) {
    if (device.record.finished()) continue;
    const double round = last_of(device.record.columns(), "round");
    unfinished.push_back(std::isnan(round)
                             ? fmt::format("{} (not evaluated yet)", device.name)
                             : fmt::format("{} (at round {:.0f})", device.name, round));
  }
  if (!unfinished.empty()) {
    notes.push_back(fmt::format("Not finished: {}. They count with their last evaluation.",
                                some_of(unfinished)));
  }
  if (devices.size() < peers) {
    notes.push_back(
        fmt::format("{} of the {} devices of this run are shown.", devices.size(), peers));
  }
  return notes;
}

FleetView events_of(std::vector<ShownRun>& runs) {
  FleetView all;
  for (ShownRun& run : runs) {
    for (FleetEvent& event : run.fleet.events) {
      event.device = run.place->name;
      all.events.push_back(std::move(event));
    }
  }
  std::ranges::stable_sort(all.events, std::greater<>(), &FleetEvent::time);
  if (all.events.size() > FleetView::kMostEvents) all.events.resize(FleetView::kMostEvents);
  return all;
}

/// One run of several, whose places have the same id and different slots.
ShownRun join(std::vector<ShownRun> runs) {
  std::ranges::sort(runs, {}, [](const ShownRun& run) { return run.place->slot; });
  const std::string label = fmt::format("{} and {} more device{}", runs.front().label,
                                        runs.size() - 1, runs.size() > 2 ? "s" : "");
  FleetView fleet = events_of(runs);
  std::vector<Device> devices;
  for (ShownRun& run : runs) {
    devices.push_back({run.place->name, run.place->slot, std::move(run.record)});
  }
  train::RunOptions config = devices.front().record.config();
  const auto has_other_data = [&](const Device& device) {
    return device.record.config().data != config.data;
  };
  if (std::ranges::any_of(devices, has_other_data)) config.data = "data of each device's own";
  const bool finished =
      std::ranges::all_of(devices, [](const Device& d) { return d.record.finished(); });
  Columns columns = Joiner(devices, config.peers).join();
  const std::string summary = summary_of(devices, columns, config.peers)
                                  .dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  std::vector<std::string> notes = notes_on(devices, config.peers);
  Record record(label, config, finished, std::move(columns), summary);
  ShownRun joined{std::move(record), label, {}};
  joined.fleet = std::move(fleet);
  joined.devices = std::move(devices);
  joined.notes = std::move(notes);
  return joined;
}

/// Runs by the id of their place.
std::map<std::string, std::vector<std::size_t>> groups_of(Runs& runs) {
  std::set<std::size_t> in_sweeps;
  for (const ShownSweep& sweep : runs.sweeps) {
    for (const auto& row : sweep.rows) in_sweeps.insert(row.begin(), row.end());
  }
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t k = 0; k < runs.runs.size(); ++k) {
    const ShownRun& run = runs.runs[k];
    const std::size_t peers = run.record.config().peers;
    if (!run.place || in_sweeps.count(k) > 0) continue;
    if (run.place->slot >= peers || peers > net::kMostPeers) continue;  // foreign
    groups[run.place->id].push_back(k);
  }
  std::erase_if(groups, [&](const auto& group) {
    std::map<std::uint32_t, std::size_t> slots;
    for (const std::size_t k : group.second) {
      const ShownRun& run = runs.runs[k];
      const auto [found, is_new] = slots.emplace(run.place->slot, k);
      if (is_new) continue;
      runs.problems.push_back(
          fmt::format("[report] {} and {} are of the same device: nothing is joined with them",
                      runs.runs[found->second].record.name(), run.record.name()));
      return true;
    }
    const auto peers = [&](std::size_t k) { return runs.runs[k].record.config().peers; };
    return group.second.size() < 2 || std::ranges::any_of(group.second, [&](std::size_t k) {
             return peers(k) != peers(group.second[0]);
           });
  });
  return groups;
}

}  // namespace

double last_of(const Columns& columns, const std::string& key) {
  const std::vector<double> values = known_values(columns, key);
  return values.empty() ? Columns::kAbsent : values.back();
}

double bytes_of(const Columns& columns) {
  const double edges = last_of(columns, "bytes_total"),
               global = last_of(columns, "global_bytes_total");
  return edges + (std::isfinite(global) ? global : 0);
}

void join_devices(Runs& runs) {
  const auto groups = groups_of(runs);
  if (groups.empty()) return;
  std::map<std::size_t, const std::vector<std::size_t>*> joined;  // by the first
  std::set<std::size_t> gone;                                     // the others
  for (const auto& [id, group] : groups) {
    joined[group.front()] = &group;
    gone.insert(group.begin() + 1, group.end());
  }
  std::vector<ShownRun> all;
  std::vector<std::size_t> place(runs.runs.size());
  for (std::size_t k = 0; k < runs.runs.size(); ++k) {
    place[k] = all.size();
    if (gone.count(k) > 0) continue;
    const auto found = joined.find(k);
    if (found == joined.end()) {
      all.push_back(std::move(runs.runs[k]));
      continue;
    }
    std::vector<ShownRun> parts;
    for (const std::size_t part : *found->second) parts.push_back(std::move(runs.runs[part]));
    all.push_back(join(std::move(parts)));
  }
  runs.runs = std::move(all);
  for (ShownSweep& sweep : runs.sweeps) {
    for (auto& row : sweep.rows) {
      for (std::size_t& run : row) run = place[run];
    }
  }
}

}  // namespace hearsay::report
