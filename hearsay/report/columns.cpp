#include "hearsay/report/columns.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/error.h"
#include "hearsay/core/input_file.h"

namespace hearsay::report {

namespace {

using Json = nlohmann::json;

/// act(text, ended) for every line of a file; lines that are too long are passed truncated, so that
/// they are not valid JSON.
template <class Act>
void for_each_line(const std::filesystem::path& file, std::size_t most, const Act& act) {
  InputFile in;
  if (const std::string why = in.open(file); !why.empty()) {
    throw RunFailed(fmt::format("[report] cannot read {}: {}", file.string(), why));
  }
  if (in.size() > Columns::kMostFileBytes) {
    throw CorruptData(fmt::format("[report] {} has {} bytes; at most {} are read", file.string(),
                                  in.size(), Columns::kMostFileBytes));
  }
  std::string line;
  std::vector<char> piece(std::size_t{1} << 20);
  while (const std::size_t got = in.read(piece.data(), piece.size())) {
    const char* at = piece.data();
    const char* const end = at + got;
    while (at < end) {
      const auto* stop =
          static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
      const char* const to = stop == nullptr ? end : stop;
      if (line.size() < most) line.append(at, to);
      if (stop == nullptr) break;
      act(line, true);
      line.clear();
      at = stop + 1;
    }
  }
  if (!line.empty()) act(line, false);
}

}  // namespace

/// Parses one line for the columns: the numbers at its top level and in lists there. Deeper values
/// are ignored. Numbers are buffered until the whole line has proved valid.
class Columns::Line : public nlohmann::json_sax<Json> {
 public:
  struct Number {
    std::size_t place;  ///< of its key in the line
    std::size_t entry;
    bool in_list;
    double value;
  };

  void begin() {
    numbers_.clear();
    keys_used_ = 0;
    depth_ = 0;
    object_ = list_ = false;
  }
  bool is_object() const { return object_; }
  const std::vector<Number>& numbers() const { return numbers_; }
  const std::string& key_at(std::size_t place) const { return keys_[place]; }

  bool null() override { return add(kNotFinite); }
  bool boolean(bool) override { return add(kAbsent); }
  bool number_integer(number_integer_t value) override { return add(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t&) override { return add(kAbsent); }
  bool binary(binary_t&) override { return add(kAbsent); }

  bool start_object(std::size_t) override {
    if (depth_ == 0) object_ = true;
    if (depth_ == 2) add(kAbsent);  // still an entry of a list
    return descend();
  }
  bool start_array(std::size_t) override {
    if (depth_ == 2) add(kAbsent);
    if (depth_ == 1) {
      list_ = true;
      entry_ = 0;
    }
    return descend();
  }
  bool end_object() override { return ascend(); }
  bool end_array() override { return ascend(); }
  bool key(string_t& text) override {
    if (depth_ != 1) return true;
    if (keys_.size() == keys_used_) keys_.emplace_back();
    keys_[keys_used_++] = text;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool descend() {
    ++depth_;
    return true;
  }
  bool ascend() {
    if (--depth_ == 1) list_ = false;
    return true;
  }
  bool add(double value) {
    if (!object_ || keys_used_ == 0) return true;
    if (depth_ == 1) numbers_.push_back({keys_used_ - 1, 0, false, value});
    if (depth_ != 2 || !list_) return true;
    if (entry_ < kMostEntries) {
      numbers_.push_back({keys_used_ - 1, entry_++, true, value});
    } else {  // drop the whole list
      numbers_.resize(numbers_.size() - entry_);
      list_ = false;
    }
    return true;
  }

  std::vector<std::string> keys_;  ///< reused buffer
  std::size_t keys_used_ = 0;
  std::vector<Number> numbers_;
  std::size_t depth_ = 0, entry_ = 0;
  bool object_ = false, list_ = false;
};

/// Appends lines one after the other.
class Columns::Reader {
 public:
  Reader(Columns& columns, std::string file) : columns_(columns), file_(std::move(file)) {}

  void take(const std::string& text, bool ended) {
    ++number_;
    line_.begin();
    if (!Json::sax_parse(text, &line_) || !line_.is_object()) {
      if (ended) reject("it is no JSON object");
      return;
    }
    const double round = round_of_line();
    if (!(round >= 0 && std::isfinite(round))) return reject("it has no round");
    if (round < last_round_) {
      return reject(fmt::format("round {} stands behind round {}", round, last_round_));
    }
    last_round_ = round;
    for (const Line::Number& number : line_.numbers()) keep(number);
    ++columns_.lines_;
  }

  void finish() {
    if (bad_lines_ > kMostBadLines) {
      throw CorruptData(
          fmt::format("{}; {} lines are like that, and more than {} are not passed over",
                      columns_.problems_.front(), bad_lines_, kMostBadLines));
    }
    for (auto& [key, column] : columns_.columns_) {
      for (auto& entry : column.entries) entry.resize(columns_.lines_, kAbsent);
    }
  }

 private:
  void reject(const std::string& why) {
    if (++bad_lines_ > kMostBadLines) return;
    columns_.problems_.push_back(fmt::format("[report] {}, line {}: {}", file_, number_, why));
  }

  double round_of_line() const {
    for (const Line::Number& number : line_.numbers()) {
      if (!number.in_list && line_.key_at(number.place) == "round") return number.value;
    }
    return kAbsent;
  }

  /// The column of a key. Fast path: lines mostly have the same keys at the same positions.
  Column* find(std::size_t place, bool in_list) {
    const std::string& key = line_.key_at(place);
    if (places_.size() <= place) places_.resize(place + 1, columns_.columns_.end());
    auto& found = places_[place];
    if (found == columns_.columns_.end() || found->first != key) {
      found = columns_.columns_.find(key);
      if (found == columns_.columns_.end()) {
        if (columns_.columns_.size() == kMostFigures) return nullptr;
        found = columns_.columns_.emplace(key, Column{in_list, {}}).first;
      }
    }
    return found->second.is_list == in_list ? &found->second : nullptr;
  }

  void keep(const Line::Number& number) {
    if (std::isnan(number.value)) return;
    Column* const column = find(number.place, number.in_list);
    if (column == nullptr) return;
    if (column->entries.size() <= number.entry) column->entries.resize(number.entry + 1);
    auto& values = column->entries[number.entry];
    if (values.size() > columns_.lines_) return;  // a duplicate key in the line
    values.resize(columns_.lines_, kAbsent);
    values.push_back(number.value);
  }

  Columns& columns_;
  std::string file_;
  Line line_;
  std::vector<decltype(Columns::columns_)::iterator> places_;
  std::size_t number_ = 0, bad_lines_ = 0;
  double last_round_ = -std::numeric_limits<double>::infinity();
};

Columns::Columns(const std::filesystem::path& file) {
  Reader reader(*this, file.string());
  for_each_line(file, kMostLineBytes,
                [&](const std::string& text, bool ended) { reader.take(text, ended); });
  reader.finish();
}

Columns::Columns(std::size_t lines, std::map<std::string, std::vector<double>> figures,
                 std::map<std::string, std::vector<std::vector<double>>> lists)
    : lines_(lines) {
  for (auto& [key, values] : figures) {
    columns_.emplace(key, Column{false, {}}).first->second.entries.push_back(std::move(values));
  }
  for (auto& [key, entries] : lists) columns_.emplace(key, Column{true, std::move(entries)});
}

std::span<const double> Columns::entry(std::string_view key, std::size_t i, bool list) const {
  const auto found = columns_.find(key);
  if (found == columns_.end() || found->second.is_list != list) return {};
  if (i >= found->second.entries.size()) return {};
  return found->second.entries[i];
}

std::size_t Columns::entries(std::string_view key) const {
  const auto found = columns_.find(key);
  return found == columns_.end() || !found->second.is_list ? 0 : found->second.entries.size();
}

std::vector<std::string> Columns::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, column] : columns_) {
    if (!column.is_list) keys.push_back(key);
  }
  return keys;
}

}  // namespace hearsay::report
