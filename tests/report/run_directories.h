#pragma once

#include <filesystem>
#include <string>

#include "hearsay/train/run_options.h"
#include "support/scratch.h"

namespace hearsay::report {

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++found;
  }
  return found;
}

/// A run directory made by hand: two peers, two evaluations. `more` ends summary.json.
inline void make_run(const std::filesystem::path& directory, const std::string& graph = "ring",
                     const std::string& more = "") {
  std::filesystem::create_directories(directory);
  train::RunOptions config;
  config.graph = graph;
  config.peers = 2;
  support::write_text(directory / "config.toml", config.to_toml());
  support::write_text(
      directory / "metrics.jsonl",
      R"({"round": 0, "accuracy": [10, 12], "accuracy_mean": 11, "bytes_total": 0, "divergence": 0})"
      "\n"
      R"({"round": 50, "accuracy": [81.5, 92], "accuracy_mean": 86.75, "bytes_total": 12345,)"
      R"( "divergence": 0.25})"
      "\n");
  support::write_text(directory / "summary.json",
                      R"({"accuracy_mean": 86.75, "accuracy_min": 81.5, "bytes_total": 12345,)"
                      R"( "class_counts": [[7, 0], [1, 23]])" +
                          more + "}");
}

}  // namespace hearsay::report
