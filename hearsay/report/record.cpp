#include "hearsay/report/record.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/error.h"
#include "hearsay/train/compare.h"
#include "hearsay/train/durable_file.h"

namespace hearsay::report {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Json parse_object(const std::string& text, const fs::path& file) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    throw CorruptData(fmt::format("[report] {} is damaged: it is no JSON", file.string()));
  }
  return json;
}

}  // namespace

Record::Record(const fs::path& directory) : name_(directory.string()) {
  if (!fs::exists(directory / "config.toml") || !fs::exists(directory / "metrics.jsonl")) {
    throw InvalidArgument(
        fmt::format("[report] {} holds no run: config.toml or metrics.jsonl is missing", name_));
  }
  config_.read_toml(train::read_file(directory / "config.toml"),
                    (directory / "config.toml").string());
  const fs::path metrics = directory / "metrics.jsonl";
  std::istringstream text(train::read_file(metrics));
  for (std::string line; std::getline(text, line);) {
    const bool torn = text.eof() && !Json::accept(line);  // no end of line: it was being written
    if (!torn) lines_.push_back(parse_object(line, metrics));
  }
  finished_ = fs::exists(directory / "summary.json");
  if (finished_) {
    const fs::path summary = directory / "summary.json";
    summary_.push_back(parse_object(train::read_file(summary), summary));
  } else {
    summary_.push_back(lines_.empty() ? Json::object() : lines_.back());
  }
}

Record::~Record() = default;
Record::Record(Record&&) noexcept = default;

std::string Record::summary_json() const { return summary_.front().dump(); }

Series Record::series(const char* key) const {
  Series series;
  for (const Json& line : lines_) {
    const auto round = line.find("round"), value = line.find(key);
    if (round == line.end() || value == line.end()) continue;
    if (!round->is_number() || !value->is_number()) continue;
    series.x.push_back(round->get<double>());
    series.y.push_back(value->get<double>());
  }
  return series;
}

Series Record::bytes() const {
  Series sum = series("bytes_total");
  const Series global = series("global_bytes_total");
  for (std::size_t k = 0; k < std::min(sum.y.size(), global.y.size()); ++k) sum.y[k] += global.y[k];
  return sum;
}

std::vector<Series> Record::series_of_peers(const char* key) const {
  std::vector<Series> peers;
  for (const Json& line : lines_) {
    const auto round = line.find("round"), values = line.find(key);
    if (round == line.end() || values == line.end()) continue;
    if (!round->is_number() || !values->is_array()) continue;
    for (std::size_t i = 0; i < values->size(); ++i) {
      if (!(*values)[i].is_number()) continue;
      while (peers.size() <= i) peers.push_back({fmt::format("peer {}", peers.size()), {}, {}});
      peers[i].x.push_back(round->get<double>());
      peers[i].y.push_back((*values)[i].get<double>());
    }
  }
  return peers;
}

std::vector<std::vector<double>> Record::class_counts() const {
  std::vector<std::vector<double>> counts;
  const auto found = summary_.front().find("class_counts");
  if (found == summary_.front().end() || !found->is_array()) return {};
  for (const Json& row : *found) {
    if (!row.is_array()) return {};
    counts.emplace_back();
    for (const Json& count : row) {
      if (!count.is_number()) return {};
      counts.back().push_back(count.get<double>());
    }
  }
  return counts;
}

std::vector<std::pair<std::string, Record>> control_records(const fs::path& run,
                                                            const train::Config& config) {
  std::vector<std::pair<std::string, Record>> found;
  if (!fs::exists(run / "compare")) return found;
  for (const train::Control& control : train::controls(config)) {
    const fs::path directory = run / "compare" / control.name;
    if (!fs::exists(directory / "summary.json")) continue;
    try {
      Record record(directory);
      if (record.config().hash() != control.config.hash()) continue;
      found.emplace_back(std::string(control.name), std::move(record));
    } catch (const std::exception&) {
      continue;
    }
  }
  return found;
}

}  // namespace hearsay::report
