#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hearsay/train/metrics.h"

namespace hearsay::run {

/// metrics.jsonl: lines are appended; a resumed run truncates lines written after its checkpoint.
class MetricsFile {
 public:
  /// For an objective with these metrics.
  MetricsFile(std::filesystem::path path, std::span<const engine::Metric> metrics)
      : path_(std::move(path)), metrics_(metrics.begin(), metrics.end()) {}

  std::uint64_t size() const { return size_; }

  /// Throws CorruptData if the file is shorter than `size`.
  void cut(std::uint64_t size);
  void append(const std::string& line);
  void sync() const;

  /// The last evaluation in the file; empty if there is none. Throws CorruptData if it is damaged.
  std::optional<train::Metrics> last() const;
  /// Calls `body` with all evaluations in the file, but for damaged lines.
  void for_each(const std::function<void(const train::Metrics&)>& body) const;

 private:
  std::filesystem::path path_;
  std::vector<engine::Metric> metrics_;
  std::uint64_t size_ = 0;
};

}  // namespace hearsay::run
