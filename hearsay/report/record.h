#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearsay/report/columns.h"
#include "hearsay/run/diagnosis.h"
#include "hearsay/train/metric_list.h"
#include "hearsay/train/run_options.h"

namespace hearsay::report {

/// The contents of a run directory: the settings, the evaluations, the final results. All of it
/// comes from files and is type-checked where it is read; what is missing stays empty.
class Record {
 public:
  /// Throws InvalidArgument or CorruptData for a directory without a run, or a damaged one, naming
  /// the file and the line. A run that has not finished is represented by its last evaluation.
  explicit Record(const std::filesystem::path& directory);
  /// One that is no directory's: of a run joined from several (joined_run.h), or the mean of seeds
  /// (seeds.h). `summary_json` is an object.
  Record(std::string name, train::RunOptions config, bool finished, Columns columns,
         std::string_view summary_json);
  ~Record();
  Record(Record&&) noexcept;
  Record& operator=(Record&&) noexcept;

  const std::string& name() const { return name_; }  ///< the directory, as it was given
  std::string title() const { return finished_ ? name_ : name_ + " (not finished)"; }
  const train::RunOptions& config() const { return config_; }
  bool finished() const { return finished_; }

  /// The metrics of the run besides the loss. For a run of a version that did not record them, all
  /// that it might have.
  std::span<const engine::Metric> metrics() const { return metrics_.rows(); }
  /// The first of them that was measured; nullptr if the run reports a loss alone.
  const engine::Metric* main_metric() const;

  const Columns& columns() const { return columns_; }
  /// Bytes sent until each evaluation, those of global averages included.
  std::vector<double> bytes() const;

  /// summary.json, or its replacement made from the last evaluation.
  std::string summary_json() const;
  /// A number of the summary.
  std::optional<double> figure(std::string_view key) const;
  /// Its standard deviation, in a record of several seeds (seeds.h).
  std::optional<double> deviation(std::string_view key) const;
  std::string text(std::string_view key) const;  ///< empty if it is not there
  /// A list of numbers of the summary, such as `bytes_by_peer`; empty if it is missing or holds
  /// anything else.
  std::vector<double> numbers(std::string_view key) const;
  /// A table of numbers of the summary, such as `class_counts` (one row per peer); rows are equally
  /// long.
  std::vector<std::vector<double>> table(std::string_view key) const;
  std::vector<std::string> class_names() const;
  /// What went wrong (run/diagnosis.h): of the summary, or of failure.json if it failed.
  std::vector<run::Warning> warnings() const;
  /// "peer 3", or the name of a device.
  std::string peer_name(std::size_t peer) const;

  /// Lines that were skipped: "[report] runs/a/metrics.jsonl, line 17: it is no JSON object".
  const std::vector<std::string>& problems() const { return columns_.problems(); }

 private:
  std::string name_;
  train::RunOptions config_;
  bool finished_ = false;
  Columns columns_;
  struct Summary;  ///< JSON, hidden from users of this header
  std::unique_ptr<const Summary> summary_;
  train::MetricList metrics_;
};

/// The finished baselines of a run (run/compare.h) with their labels. Damaged ones do not affect
/// the run itself: they are skipped, and `problems` gets what is wrong with them. Also skipped are
/// those of other settings, which a later run will replace.
std::vector<std::pair<std::string, Record>> control_records(const std::filesystem::path& run,
                                                            const train::RunOptions& config,
                                                            std::vector<std::string>& problems);

}  // namespace hearsay::report
