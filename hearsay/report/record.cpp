#include "hearsay/report/record.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/error.h"
#include "hearsay/core/input_file.h"
#include "hearsay/run/compare.h"
#include "hearsay/run/json_file.h"

namespace hearsay::report {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uintmax_t kMostConfigBytes = 1 << 20;

/// Whether it is a regular file: reading a pipe or device might never end.
bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// What a directory lacks to be a run directory, or "".
std::string missing_in(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) return "there is no directory";
  std::string missing;
  for (const char* name : {"config.toml", "metrics.jsonl"}) {
    if (is_file(directory / name)) continue;
    const bool other = fs::exists(fs::symlink_status(directory / name, error));
    missing += fmt::format("{}{} {}", missing.empty() ? "" : ", ", name,
                           other ? "is no regular file" : "is missing");
  }
  return missing;
}

train::RunOptions read_config(const fs::path& file) {
  std::error_code error;
  if (const auto size = fs::file_size(file, error); !error && size > kMostConfigBytes) {
    throw CorruptData(fmt::format("[report] {} has {} bytes; a config has at most {}",
                                  file.string(), size, kMostConfigBytes));
  }
  return train::options_of_run(file.parent_path());
}

/// The metrics of the run as described by its first evaluation; null if it has no description.
Json described_metrics(const fs::path& metrics) {
  constexpr int kDeepest = 4;  // of a list of rows; deeper values are dropped
  InputFile in;
  if (!in.open(metrics).empty()) return {};
  std::string line, piece(std::size_t{1} << 16, '\0');
  while (line.find('\n') == std::string::npos && line.size() < Columns::kMostLineBytes) {
    const std::size_t got = in.read(piece.data(), piece.size());
    if (got == 0) break;
    line.append(piece, 0, got);
  }
  line.resize(std::min(line.find('\n'), line.size()));
  const auto is_shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  const Json first = Json::parse(line, is_shallow, false);
  const auto found = first.is_object() ? first.find("metrics") : first.end();
  return found == first.end() ? Json() : *found;
}

/// The last evaluation, for a run without a summary, with the warnings of failure.json.
Json last_line(const Columns& columns, const fs::path& directory) {
  const fs::path metrics = directory / "metrics.jsonl", failure = directory / "failure.json";
  Json line = Json::object();
  try {  // a damaged one hides no run
    const Json read = is_file(failure) ? run::read_json_file(failure, "report") : Json::object();
    if (const auto found = read.find("warnings"); found != read.end()) line["warnings"] = *found;
  } catch (const std::exception&) {
  }
  if (columns.lines() > 0) line["metrics"] = described_metrics(metrics);
  for (const std::string& key : columns.keys()) {
    const double last = columns.figure(key).back();
    if (std::isfinite(last)) line[key] = last;
  }
  return line;
}

std::vector<double> numbers_of(const Json& list) {
  std::vector<double> numbers;
  if (!list.is_array()) return {};
  for (const Json& entry : list) {
    if (!entry.is_number()) return {};
    numbers.push_back(entry.get<double>());
  }
  return numbers;
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return {};
  for (const Json& entry : list) {
    if (!entry.is_string()) return {};
    texts.push_back(entry.get<std::string>());
  }
  return texts;
}

}  // namespace

struct Record::Summary {
  nlohmann::json json;
};

Record::Record(const fs::path& directory) : name_(directory.string()) {
  const fs::path config = directory / "config.toml", metrics = directory / "metrics.jsonl",
                 summary = directory / "summary.json";
  if (const std::string missing = missing_in(directory); !missing.empty()) {
    throw InvalidArgument(fmt::format("[report] {} holds no run: {}", name_, missing));
  }
  config_ = read_config(config);
  finished_ = is_file(summary);  // before metrics, which are complete then
  columns_ = Columns(metrics);
  if (finished_ && columns_.lines() == 0) {
    throw CorruptData(columns_.problems().empty()
                          ? fmt::format("[report] {} is empty", metrics.string())
                          : columns_.problems().front());
  }
  summary_ = std::make_unique<const Summary>(
      Summary{finished_ ? run::read_json_file(summary, "report") : last_line(columns_, directory)});
  const auto described = summary_->json.find("metrics");
  metrics_ = train::MetricList(described == summary_->json.end() ? "" : described->dump());
}

Record::Record(std::string name, train::RunOptions config, bool finished, Columns columns,
               std::string_view summary_json)
    : name_(std::move(name)),
      config_(std::move(config)),
      finished_(finished),
      columns_(std::move(columns)),
      summary_(std::make_unique<const Summary>(Summary{Json::parse(summary_json)})) {
  const auto described = summary_->json.find("metrics");
  metrics_ = train::MetricList(described == summary_->json.end() ? "" : described->dump());
}

Record::~Record() = default;
Record::Record(Record&&) noexcept = default;
Record& Record::operator=(Record&&) noexcept = default;

const engine::Metric* Record::main_metric() const {
  const auto has = [this](const engine::Metric& metric) {
    const std::string mean = engine::keys_of(metric).mean;
    return figure(mean).has_value() || !columns_.figure(mean).empty();
  };
  const auto rows = metrics();
  const auto found = std::ranges::find_if(rows, has);
  return found == rows.end() ? nullptr : &*found;
}

std::vector<double> Record::bytes() const {
  const auto edges = columns_.figure("bytes_total"), global = columns_.figure("global_bytes_total");
  std::vector<double> sum(edges.begin(), edges.end());
  for (std::size_t k = 0; k < std::min(sum.size(), global.size()); ++k) {
    if (std::isfinite(global[k])) sum[k] += global[k];
  }
  return sum;
}

std::string Record::summary_json() const { return summary_->json.dump(); }

std::optional<double> Record::figure(std::string_view key) const {
  const auto found = summary_->json.find(key);
  if (found == summary_->json.end() || !found->is_number()) return {};
  return found->get<double>();
}

std::optional<double> Record::deviation(std::string_view key) const {
  const auto all = summary_->json.find("deviation");
  if (all == summary_->json.end() || !all->is_object()) return {};
  const auto found = all->find(key);
  if (found == all->end() || !found->is_number()) return {};
  return found->get<double>();
}

std::string Record::text(std::string_view key) const {
  const auto found = summary_->json.find(key);
  return found == summary_->json.end() || !found->is_string() ? "" : found->get<std::string>();
}

std::vector<double> Record::numbers(std::string_view key) const {
  const auto found = summary_->json.find(key);
  return found == summary_->json.end() ? std::vector<double>{} : numbers_of(*found);
}

std::vector<std::vector<double>> Record::table(std::string_view key) const {
  std::vector<std::vector<double>> rows;
  const auto found = summary_->json.find(key);
  if (found == summary_->json.end() || !found->is_array()) return {};
  for (const Json& row : *found) {
    rows.push_back(numbers_of(row));
    if (rows.back().size() != row.size() || rows.back().size() != rows.front().size()) return {};
  }
  return rows;
}

std::vector<std::string> Record::class_names() const {
  const auto found = summary_->json.find("class_names");
  return found == summary_->json.end() ? std::vector<std::string>{} : texts_of(*found);
}

std::vector<run::Warning> Record::warnings() const {
  constexpr std::size_t kMost = 20;
  const auto found = summary_->json.find("warnings");
  std::vector<run::Warning> warnings;
  if (found == summary_->json.end() || !found->is_array()) return warnings;
  for (const Json& row : *found) {
    const auto text = [&](const char* key) {
      const auto value = row.is_object() ? row.find(key) : row.end();
      return row.is_object() && value != row.end() && value->is_string() ? value->get<std::string>()
                                                                         : std::string();
    };
    if (warnings.size() < kMost && !text("what").empty()) {
      warnings.push_back({text("kind"), text("what"), text("try")});
    }
  }
  return warnings;
}

std::string Record::peer_name(std::size_t peer) const {
  const auto found = summary_->json.find("peer_names");
  if (found != summary_->json.end() && found->is_array() && peer < found->size() &&
      (*found)[peer].is_string()) {
    return (*found)[peer].get<std::string>();
  }
  return fmt::format("peer {}", peer);
}

std::vector<std::pair<std::string, Record>> control_records(const fs::path& run,
                                                            const train::RunOptions& config,
                                                            std::vector<std::string>& problems) {
  std::vector<std::pair<std::string, Record>> found;
  std::error_code error;
  if (!fs::exists(run / "compare", error)) return found;
  for (const run::Control& control : run::controls(config)) {
    const fs::path directory = run / "compare" / control.name;
    if (!is_file(directory / "summary.json")) continue;
    try {
      Record record(directory);
      if (record.config().hash() != control.config.hash()) continue;
      found.emplace_back(std::string(control.label), std::move(record));
    } catch (const std::exception& problem) {
      problems.emplace_back(message_of(problem));
    }
  }
  return found;
}

}  // namespace hearsay::report
