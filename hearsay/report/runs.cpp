#include "hearsay/report/runs.h"

#include <algorithm>
#include <map>

#include "hearsay/core/error.h"
#include "hearsay/report/find_runs.h"
#include "hearsay/report/joined_run.h"
#include "hearsay/report/seeds.h"

namespace hearsay::report {

namespace {

namespace fs = std::filesystem;

class Reader {
 public:
  void read(const std::string& directory) {
    if (directory.ends_with(".sweep.json")) return add_sweep(directory);
    FoundRuns found = find_runs(directory);
    all_.problems.insert(all_.problems.end(), found.problems.begin(), found.problems.end());
    if (found.runs.empty() && found.sweeps.empty()) found.runs = {directory};  // says what it lacks
    for (const fs::path& sweep : found.sweeps) add_sweep(sweep);
    for (const fs::path& run : found.runs) add_run(run, run.string());
  }

  Runs take() {
    join_devices(all_);
    group_seeds(all_);
    return std::move(all_);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// The index of the run, which several sweeps may share, or kNone.
  std::size_t add_run(const fs::path& directory, const std::string& label,
                      const sweep::Place& in_sweep = {}) {
    const auto [found, is_new] = known_.emplace(directory.lexically_normal().string(), kNone);
    if (!is_new) return found->second;
    try {
      Record record(directory);
      all_.problems.insert(all_.problems.end(), record.problems().begin(), record.problems().end());
      auto controls = control_records(directory, record.config(), all_.problems);
      auto place = run::read_place_in_run(directory);
      FleetView fleet = run::is_of_peer(directory) ? read_fleet_view(directory) : FleetView();
      all_.problems.insert(all_.problems.end(), fleet.problems.begin(), fleet.problems.end());
      all_.runs.push_back({std::move(record), label, std::move(controls), in_sweep,
                           std::move(place), std::move(fleet)});
      found->second = all_.runs.size() - 1;
    } catch (const std::exception& error) {
      all_.problems.emplace_back(message_of(error));
    }
    return found->second;
  }

  void add_sweep(const fs::path& file) {
    try {
      ShownSweep sweep{sweep::read_sweep_record(file), {}, {}};
      for (std::size_t r = 0; r < sweep.record.runs.size(); ++r) {
        std::vector<std::size_t>& runs = sweep.rows.emplace_back();
        for (const fs::path& directory : sweep.record.runs[r]) {
          std::error_code error;
          if (!fs::exists(directory / "metrics.jsonl", error)) continue;  // not started yet
          const sweep::SweepRow& its = sweep.record.sweep.rows[r];
          const std::size_t run = add_run(directory, its.label, its.place);
          if (run != kNone) runs.push_back(run);
        }
      }
      std::vector<std::vector<const Record*>> records;
      for (const auto& row : sweep.rows) {
        auto& of_row = records.emplace_back();
        for (const std::size_t run : row) of_row.push_back(&all_.runs[run].record);
      }
      sweep.table = tabulate(sweep.record, records);
      all_.sweeps.push_back(std::move(sweep));
    } catch (const std::exception& error) {
      all_.problems.emplace_back(message_of(error));
    }
  }

  Runs all_;
  std::map<std::string, std::size_t> known_;
};

}  // namespace

std::vector<engine::Metric> metrics_of(std::span<const ShownRun* const> runs) {
  std::vector<engine::Metric> all;
  for (const ShownRun* run : runs) {
    for (const engine::Metric& metric : run->record.metrics()) {
      if (std::ranges::count(all, metric.key, &engine::Metric::key) == 0) all.push_back(metric);
    }
  }
  return all;
}

std::vector<engine::Metric> metrics_of(std::span<const ShownRun> runs) {
  std::vector<const ShownRun*> all;
  for (const ShownRun& run : runs) all.push_back(&run);
  return metrics_of(all);
}

Runs read_runs(std::span<const std::string> directories) {
  Reader reader;
  for (const std::string& directory : directories) reader.read(directory);
  return reader.take();
}

}  // namespace hearsay::report
