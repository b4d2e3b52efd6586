#include "hearsay/run/metrics_file.h"

#include <fstream>

#include <fmt/format.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"

namespace hearsay::run {

namespace fs = std::filesystem;

void MetricsFile::cut(std::uint64_t size) {
  std::error_code error;
  if (size == 0) {
    std::ofstream(path_, std::ios::trunc);
  } else if (fs::file_size(path_, error) < size) {
    throw CorruptData(
        fmt::format("[train] {} is shorter than its checkpoint says; it was cut", path_.string()));
  } else if (!error) {
    fs::resize_file(path_, size, error);
  }
  if (error) {
    throw RunFailed(fmt::format("[train] cannot cut {}: {}", path_.string(), error.message()));
  }
  size_ = size;
}

void MetricsFile::append(const std::string& line) {
  std::ofstream out(path_, std::ios::app | std::ios::binary);
  out << line << '\n' << std::flush;
  if (!out) throw RunFailed(fmt::format("[train] cannot write {}", path_.string()));
  size_ += line.size() + 1;
}

void MetricsFile::sync() const { sync_file(path_); }

void MetricsFile::for_each(const std::function<void(const train::Metrics&)>& body) const {
  std::ifstream in(path_, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (const auto evaluation = train::from_json_line(line, metrics_)) body(*evaluation);
  }
}

std::optional<train::Metrics> MetricsFile::last() const {
  if (size_ == 0) return {};
  const std::string text = read_file(path_);
  const std::size_t end = text.find_last_not_of('\n') + 1;
  const std::size_t begin = end == 0 ? 0 : text.rfind('\n', end - 1) + 1;
  auto metrics = train::from_json_line(std::string_view(text).substr(begin, end - begin), metrics_);
  if (!metrics) {
    throw CorruptData(
        fmt::format("[train] the last line of {} is damaged: it is no JSON", path_.string()));
  }
  return metrics;
}

}  // namespace hearsay::run
