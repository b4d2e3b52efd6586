#pragma once

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "hearsay/train/run_options.h"

namespace hearsay::support {

/// A temporary directory of one test, removed with its contents by the destructor.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "hearsay-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch directory");
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

/// Every file under a directory with its contents, to check that nothing changes.
inline std::vector<std::pair<std::string, std::string>> contents(
    const std::filesystem::path& directory) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    found.emplace_back(std::filesystem::relative(entry.path(), directory).string(),
                       entry.is_regular_file() ? read_text(entry.path()) : "");
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// summary.json of a run without the entries that depend on machine or time.
inline nlohmann::json lasting(nlohmann::json summary) {
  for (const char* key : {"seconds", "seconds_per_round", "samples_per_second", "peak_rss_bytes",
                          "threads", "processes", "transport", "seconds_waited", "ended", "host"}) {
    summary.erase(key);
  }
  return summary;
}

inline nlohmann::json summary_of(const std::filesystem::path& run) {
  return nlohmann::json::parse(read_text(run / "summary.json"));
}

/// The lines of metrics.jsonl, without `seconds`.
inline std::vector<nlohmann::json> metrics_of(const std::filesystem::path& run) {
  std::vector<nlohmann::json> lines;
  std::ifstream in(run / "metrics.jsonl");
  for (std::string text; std::getline(in, text);) {
    lines.push_back(nlohmann::json::parse(text));
    lines.back().erase("seconds");
  }
  return lines;
}

/// The resolved config of these settings.
inline train::RunOptions config_of(
    const std::vector<std::pair<std::string, std::string>>& settings) {
  train::RunOptions config;
  for (const auto& [key, value] : settings) config.set(key, value);
  return train::resolve(config);
}

/// Five peers on least squares with noisy gradients, plus these settings.
inline train::RunOptions quadratics(std::vector<std::pair<std::string, std::string>> more) {
  more.insert(more.end(), {{"data", "least-squares:noise=0.1"}, {"peers", "5"}, {"threads", "1"}});
  return config_of(more);
}

}  // namespace hearsay::support
