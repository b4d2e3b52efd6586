#pragma once

#include <filesystem>
#include <string>
#include <string_view>
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
  /// that has not finished is told by its last evaluation.
  explicit Record(const std::filesystem::path& directory);
  ~Record();
  Record(Record&&) noexcept;

  const std::string& name() const { return name_; }  ///< of the directory, as it was given
  const train::Config& config() const { return config_; }
  bool finished() const { return finished_; }
  std::string summary_json() const;

  /// A figure of every evaluation ("divergence").
  Series series(const char* key) const;
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

}  // namespace hearsay::report
