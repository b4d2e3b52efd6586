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
#include "hearsay/train/config.h"
#include "hearsay/train/metric_list.h"

namespace hearsay::report {

/// What a run directory tells: the settings, the evaluations, the figures at the end. All of it
/// comes from files and is checked for its type where it is read; what is not there stays empty.
class Record {
 public:
  /// Throws InvalidArgument or CorruptData for a directory without a run, or a damaged one, naming
  /// the file and the line. A run that has not finished is told by its last evaluation.
  explicit Record(const std::filesystem::path& directory);
  ~Record();
  Record(Record&&) noexcept;
  Record& operator=(Record&&) noexcept;

  const std::string& name() const { return name_; }  ///< of the directory, as it was given
  std::string title() const { return finished_ ? name_ : name_ + " (not finished)"; }
  const train::Config& config() const { return config_; }
  bool finished() const { return finished_; }

  /// What the run measures besides the loss. Of a run of a version that did not record it, all that
  /// it might have.
  std::span<const engine::Metric> metrics() const { return metrics_.rows(); }
  /// The first of them that was measured; nullptr if the run reports a loss alone.
  const engine::Metric* main_metric() const;

  const Columns& columns() const { return columns_; }
  /// Bytes that went out until each evaluation, those of global averages included.
  std::vector<double> bytes() const;

  /// summary.json, or what the last evaluation says in its place.
  std::string summary_json() const;
  /// A number of it.
  std::optional<double> figure(std::string_view key) const;
  std::string text(std::string_view key) const;  ///< empty if it is not there
  /// A list of numbers of it, such as `bytes_by_peer`; empty if it is not there or holds others.
  std::vector<double> numbers(std::string_view key) const;
  /// A table of numbers of it, such as `class_counts` (a row a peer); rows are equally long.
  std::vector<std::vector<double>> table(std::string_view key) const;
  std::vector<std::string> class_names() const;

  /// Lines that were left out: "[report] runs/a/metrics.jsonl, line 17: it is no JSON object".
  const std::vector<std::string>& problems() const { return columns_.problems(); }

 private:
  std::string name_;
  train::Config config_;
  bool finished_ = false;
  Columns columns_;
  struct Summary;  ///< JSON, which users of this header need not have
  std::unique_ptr<const Summary> summary_;
  train::MetricList metrics_;
};

/// The finished controls of a run (train/compare.h) with their names. Damaged ones take nothing
/// from the run itself: they are left out, and `problems` gets what is wrong with them. So are
/// those of other settings, which a later run will make again.
std::vector<std::pair<std::string, Record>> control_records(const std::filesystem::path& run,
                                                            const train::Config& config,
                                                            std::vector<std::string>& problems);

}  // namespace hearsay::report
