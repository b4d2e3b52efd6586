#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "hearsay/train/config.h"

namespace hearsay::report {

/// A curve over rounds.
struct Series {
  std::string name;
  std::vector<double> x, y;
};

/// What a run directory tells: the settings, the evaluations, the figures at the end. All of it
/// comes from files and is checked for its type where it is read; what is not there stays empty.
class Record {
 public:
  /// Throws InvalidArgument or CorruptData for a directory without a run, or a damaged one. A run
  /// that has not finished is told by its last evaluation; a last line that was cut off does not
  /// count.
  explicit Record(const std::filesystem::path& directory);
  ~Record();
  Record(Record&&) noexcept;

  const std::string& name() const { return name_; }  ///< of the directory, as it was given
  std::string title() const { return finished_ ? name_ : name_ + " (not finished)"; }
  const train::Config& config() const { return config_; }
  bool finished() const { return finished_; }
  std::string summary_json() const;

  /// A figure of every evaluation ("divergence").
  Series series(const char* key) const;
  /// Bytes that went out, those of global averages included.
  Series bytes() const;
  /// Entry i of a figure that is a list ("accuracy"), for every i.
  std::vector<Series> series_of_peers(const char* key) const;
  /// counts[peer][class], or nothing.
  std::vector<std::vector<double>> class_counts() const;

 private:
  std::string name_;
  train::Config config_;
  bool finished_ = false;
  std::vector<nlohmann::json> lines_;    ///< of metrics.jsonl
  std::vector<nlohmann::json> summary_;  ///< one
};

/// The finished controls of a run (train/compare.h) with their names. Damaged ones and those of
/// other settings take nothing from the run itself: they are left out.
std::vector<std::pair<std::string, Record>> control_records(const std::filesystem::path& run,
                                                            const train::Config& config);

}  // namespace hearsay::report
