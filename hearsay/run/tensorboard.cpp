#include "hearsay/run/tensorboard.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/error.h"
#include "hearsay/run/summary.h"

namespace hearsay::run {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "events.out.tfevents.";
constexpr const char* kSuffix = ".hearsay";

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  constexpr std::uint32_t kCastagnoli = 0x82f63b78;  // reflected
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kCastagnoli : 0);
    table[byte] = crc;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

// Fields of protocol buffers: a tag, then the value.
enum Wire : std::uint8_t { kVarint = 0, k64Bits = 1, kLengthDelimited = 2, k32Bits = 5 };

void append_varint(Bytes& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::uint8_t>(value | 0x80));
  out.push_back(static_cast<std::uint8_t>(value));
}
void append_tag(Bytes& out, std::uint64_t number, Wire wire) {
  append_varint(out, number << 3 | wire);
}
void append_varint_field(Bytes& out, std::uint64_t number, std::uint64_t value) {
  append_tag(out, number, kVarint);
  append_varint(out, value);
}
void append_bytes_field(Bytes& out, std::uint64_t number, ByteView bytes) {
  append_tag(out, number, kLengthDelimited);
  append_varint(out, bytes.size());
  append(out, bytes);
}
void append_text_field(Bytes& out, std::uint64_t number, std::string_view text) {
  append_bytes_field(out, number, Bytes(text.begin(), text.end()));
}

/// wall_time and step.
Bytes begin_event(double wall_time, std::uint64_t step) {
  Bytes event;
  append_tag(event, 1, k64Bits);
  append(event, wall_time);
  append_varint_field(event, 2, step);
  return event;
}

Bytes record_of(const Bytes& event) {
  Bytes record;
  append(record, static_cast<std::uint64_t>(event.size()));
  append(record, masked_crc32c(record));
  append(record, ByteView(event));
  append(record, masked_crc32c(event));
  return record;
}

/// What begins a file: its version, and that what a reader has of this run no longer counts.
Bytes first_records(double wall_time) {
  Bytes version;
  append_tag(version, 1, k64Bits);
  append(version, wall_time);
  append_text_field(version, 3, "brain.Event:2");
  Bytes status, start = begin_event(wall_time, 0);
  append_varint_field(status, 1, 1);
  append_bytes_field(start, 7, status);
  Bytes records = record_of(version);
  append(records, ByteView(record_of(start)));
  return records;
}

/// The name of this host, as part of a file's name.
std::string host_in_a_name() {
  std::string host = host_name();
  std::ranges::replace(host, '/', '-');
  return host.empty() ? "localhost" : host;
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The event files of hearsay in a directory.
std::vector<fs::path> event_files(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) files.push_back(entry.path());
  }
  return files;
}

}  // namespace

std::uint32_t masked_crc32c(ByteView bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const std::uint8_t byte : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ byte) & 0xff];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

Bytes event_record(double wall_time, std::uint64_t step,
                   std::span<const std::pair<std::string, double>> values) {
  Bytes summary;
  for (const auto& [tag, number] : values) {
    Bytes value;
    append_text_field(value, 1, tag);
    append_tag(value, 2, k32Bits);
    append(value, static_cast<float>(number));
    append_bytes_field(summary, 1, value);
  }
  Bytes event = begin_event(wall_time, step);
  append_bytes_field(event, 5, summary);
  return record_of(event);
}

void TensorBoardLog::started(const train::RunView& run, const train::RunOptions& config) {
  if (leads_) {
    try {
      begin();
    } catch (const std::exception& error) {
      file_.clear();
      failed_(error.what());
    }
  }
  next_.started(run, config);
}

void TensorBoardLog::evaluated(const train::RunView& run, const train::Metrics& metrics) {
  if (!file_.empty()) {
    try {
      Bytes record;
      add_line(train::to_json_line(metrics), record);
      write(record);
    } catch (const std::exception& error) {
      file_.clear();
      failed_(error.what());
    }
  }
  next_.evaluated(run, metrics);
}

void TensorBoardLog::begin() {
  const std::vector<fs::path> older = event_files(directory_);
  const double time = now();
  std::int64_t second = static_cast<std::int64_t>(time);
  do {  // a reader takes the files of a directory in the order of their names
    file_ = directory_ / fmt::format("{}{:010}.{}.{}{}", kPrefix, second++, host_in_a_name(),
                                     ::getpid(), kSuffix);
  } while (fs::exists(file_));
  std::ifstream lines(directory_ / "metrics.jsonl", std::ios::binary);
  std::string line, last;
  while (std::getline(lines, line)) {
    if (!line.empty()) last = line;
  }
  const auto json = nlohmann::json::parse(last, nullptr, false);
  begin_ = time;
  if (json.is_object() && json.contains("seconds") && json["seconds"].is_number()) {
    begin_ -= json["seconds"].get<double>();
  }
  write(first_records(begin_));
  lines.clear();
  lines.seekg(0);
  constexpr std::size_t kMostBytes = 1 << 20;  // at a time
  Bytes records;
  while (std::getline(lines, line)) {
    add_line(line, records);
    if (records.size() < kMostBytes) continue;
    write(records);
    records.clear();
  }
  write(records);
  std::error_code ignored;
  for (const fs::path& file : older) fs::remove(file, ignored);
}

void TensorBoardLog::add_line(std::string_view line, Bytes& out) const {
  const auto json = nlohmann::ordered_json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("round")) return;
  std::vector<std::pair<std::string, double>> values;
  double seconds = 0;
  for (const auto& [key, value] : json.items()) {
    if (key == "round") continue;
    if (value.is_number()) values.emplace_back(key, value.get<double>());
    if (value.is_null()) values.emplace_back(key, std::numeric_limits<double>::quiet_NaN());
    if (key == "seconds" && value.is_number()) seconds = value.get<double>();
  }
  append(out, ByteView(event_record(begin_ + seconds, json["round"].get<std::uint64_t>(), values)));
}

void TensorBoardLog::write(const Bytes& records) {
  std::ofstream out(file_, std::ios::app | std::ios::binary);
  out.write(reinterpret_cast<const char*>(records.data()),
            static_cast<std::streamsize>(records.size()));
  out.flush();
  if (!out) throw RunFailed(fmt::format("[tensorboard] cannot write {}", file_.string()));
}

}  // namespace hearsay::run
