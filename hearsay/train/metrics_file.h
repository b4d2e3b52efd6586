#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hearsay/train/metrics.h"

namespace hearsay::train {

/// metrics.jsonl: lines are appended; a resumed run cuts off what its checkpoint has not seen.
class MetricsFile {
 public:
  explicit MetricsFile(std::filesystem::path path) : path_(std::move(path)) {}

  std::uint64_t size() const { return size_; }

  /// Throws CorruptData if the file is shorter than `size`.
  void cut(std::uint64_t size);
  void append(const std::string& line);
  void sync() const;

  /// The first and the last evaluation of what was kept; nothing if there is none. Throws
  /// CorruptData if the last is damaged.
  std::optional<Metrics> first() const;
  std::optional<Metrics> last() const;

 private:
  std::filesystem::path path_;
  std::uint64_t size_ = 0;
};

}  // namespace hearsay::train
