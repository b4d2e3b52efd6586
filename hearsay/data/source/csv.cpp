#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"
#include "hearsay/core/text.h"
#include "hearsay/data/source/own_data.h"
#include "hearsay/data/source/source_file.h"
#include "hearsay/data/source/sources.h"

namespace hearsay::data {

namespace {

constexpr std::size_t kMostClasses = 65536;

/// Reads RFC 4180: fields separated by commas, in double quotes if they contain one ("" is a
/// quote), rows separated by line ends. Blank lines are skipped.
class Rows {
 public:
  Rows(std::string_view text, const SourceFile& file) : rest_(text), file_(file) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);  // a byte order mark
  }

  /// Reads the next row; false at the end.
  bool next(std::vector<std::string>& fields) {
    while (rest_.starts_with('\n') || rest_.starts_with("\r\n")) end_line();
    fields.clear();
    if (rest_.empty()) return false;
    row_line_ = line_;
    for (;;) {
      fields.push_back(rest_.starts_with('"') ? quoted() : plain());
      if (rest_ == "\r") rest_ = {};
      if (rest_.starts_with(',')) {
        rest_.remove_prefix(1);
      } else if (rest_.empty()) {
        return true;
      } else if (rest_.front() == '\n' || rest_.starts_with("\r\n")) {
        end_line();
        return true;
      } else {
        fail("has text after a closing quote");
      }
    }
  }

  /// Throws an error about the row that was read last.
  [[noreturn]] void fail(std::string_view what) const {
    file_.refuse(fmt::format("line {} {}", row_line_, what));
  }

 private:
  void end_line() {
    rest_.remove_prefix(rest_.front() == '\r' ? 2 : 1);
    ++line_;
  }

  std::string plain() {
    const std::size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
    const bool ends_row = end == rest_.size() || rest_[end] == '\n';
    std::string_view field = rest_.substr(0, end);
    if (ends_row && field.ends_with('\r')) field.remove_suffix(1);
    rest_.remove_prefix(field.size());
    return std::string(field);
  }

  std::string quoted() {
    std::string field;
    rest_.remove_prefix(1);
    for (;;) {
      const std::size_t quote = rest_.find('"');
      if (quote == std::string_view::npos) fail("has a quote that is never closed");
      const std::string_view inside = rest_.substr(0, quote);
      line_ += static_cast<std::size_t>(std::ranges::count(inside, '\n'));
      field += inside;
      rest_.remove_prefix(quote + 1);
      if (!rest_.starts_with('"')) return field;
      field += '"';
      rest_.remove_prefix(1);
    }
  }

  std::string_view rest_;
  const SourceFile& file_;
  std::size_t line_ = 1;
  std::size_t row_line_ = 1;
};

bool parse_number(std::string_view text, double& value) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Sorts class names: as numbers if all are numbers, as text otherwise.
void sort_names(std::vector<std::string>& names) {
  double value = 0;
  const bool numbers = std::ranges::all_of(
      names, [&](const std::string& name) { return parse_number(name, value); });
  if (!numbers) {
    std::ranges::sort(names);
    return;
  }
  std::ranges::sort(names, {}, [](const std::string& name) {
    double key = 0;
    parse_number(name, key);
    return std::pair(key, name);
  });
}

/// Numbers the classes 0, 1, ...: sets the labels and the names of the classes.
void number_classes(const std::vector<std::string>& labels, const SourceFile& file, Dataset& own) {
  std::vector<std::string> names = labels;
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() > kMostClasses) {
    file.refuse(fmt::format("has {} different labels; at most {} can be learnt", names.size(),
                            kMostClasses));
  }
  sort_names(names);
  std::map<std::string_view, std::uint16_t> number_of;
  for (std::size_t c = 0; c < names.size(); ++c) {
    number_of[names[c]] = static_cast<std::uint16_t>(c);
  }
  for (const std::string& label : labels) own.train.labels().push_back(number_of[label]);
  own.classes = names.size();
  own.class_names = std::move(names);
}

/// The place of a column; `what` it holds and `how` it is given go into messages.
std::size_t find_column(const std::vector<std::string>& header, const std::string& name,
                        std::string_view what, std::string_view how, const SourceFile& file) {
  const auto column = std::ranges::find(header, name);
  if (column == header.end()) {
    const std::vector<std::string_view> names(header.begin(), header.end());
    const std::string_view close = nearest(name, names);
    file.refuse(fmt::format("has no column '{}'{}; name the {} column with {}=...; there are {}",
                            name, close.empty() ? "" : fmt::format(" (did you mean '{}'?)", close),
                            what, how, name_list(header)));
  }
  if (std::count(header.begin(), header.end(), name) > 1) {
    file.refuse(fmt::format("has two columns '{}'; the {} must be one", name, what));
  }
  return static_cast<std::size_t>(column - header.begin());
}

/// The columns of target=A+B, in this order. A name that contains + itself is found if it is the
/// only one.
std::vector<std::size_t> find_targets(const std::vector<std::string>& header,
                                      const Arguments& arguments, const SourceFile& file) {
  if (!arguments.given("target")) {
    file.refuse(
        fmt::format("needs target=COLUMN for --task regression; there are {}", name_list(header)));
  }
  const std::string& text = arguments.text("target");
  std::vector<std::string> names;
  if (std::ranges::count(header, text) > 0) {
    names.push_back(text);
  } else {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('+', at), text.size());
      names.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  std::vector<std::size_t> columns;
  for (const std::string& name : names) {
    if (name.empty()) {
      file.refuse(fmt::format("got an empty column name in target={}; write target=A+B", text));
    }
    columns.push_back(find_column(header, name, "target", "target", file));
    if (std::ranges::count(columns, columns.back()) > 1) {
      file.refuse(fmt::format("got column '{}' twice in target={}; name it once", name, text));
    }
  }
  return columns;
}

std::shared_ptr<const Dataset> read(const Arguments& arguments, Task task) {
  const bool regression = task == Task::kRegression;
  if (const char* other = regression ? "label" : "target"; arguments.given(other)) {
    throw InvalidArgument(regression ? "[csv] label names a class; --task regression takes "
                                       "target=COLUMN, the number to predict"
                                     : "[csv] target names numbers to predict; add --task "
                                       "regression, or name a class with label=COLUMN");
  }
  const SourceFile file{"csv", arguments.text("path")};
  const Bytes bytes = file.read();
  Rows rows({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file);
  std::vector<std::string> header;
  if (!rows.next(header)) file.refuse("is empty; its first line must name the columns");
  const std::vector<std::size_t> targets =
      regression
          ? find_targets(header, arguments, file)
          : std::vector{find_column(header, arguments.text("label"), "label", "label", file)};
  if (header.size() == targets.size()) {
    file.refuse(fmt::format("has no column beside the {}", regression ? "targets" : "label"));
  }

  Dataset own{.name = "csv", .channels = header.size() - targets.size()};
  for (std::size_t k = 0; k < header.size(); ++k) {
    if (std::ranges::count(targets, k) == 0) own.channel_names.push_back(header[k]);
  }
  std::vector<float>& features = own.train.inputs.as<float>();
  std::vector<std::string> labels;
  std::vector<float> numbers;
  std::vector<std::string> fields;
  const auto number_in = [&](std::size_t column, std::string_view what) {
    double value = 0;
    if (!parse_number(fields[column], value) || !std::isfinite(static_cast<float>(value))) {
      rows.fail(fmt::format("has '{}' in column '{}'; {} must be finite numbers", fields[column],
                            header[column], what));
    }
    return static_cast<float>(value);
  };
  while (rows.next(fields)) {
    if (fields.size() != header.size()) {
      rows.fail(fmt::format("has {} fields; the header has {}", fields.size(), header.size()));
    }
    for (std::size_t k = 0; k < fields.size(); ++k) {
      if (std::ranges::count(targets, k) == 0) features.push_back(number_in(k, "features"));
    }
    if (regression) {
      for (const std::size_t k : targets) numbers.push_back(number_in(k, "targets"));
    } else {
      std::string& label = fields[targets.front()];
      if (label.empty()) rows.fail("has no label");
      labels.push_back(std::move(label));
    }
  }
  if (features.empty()) file.refuse("has no rows after its header");
  if (regression) {
    own.train.targets_each = targets.size();
    for (const std::size_t k : targets) own.target_names.push_back(header[k]);
    own.train.targets = TypedArray(std::move(numbers));
  } else {
    number_classes(labels, file, own);
  }
  complete(own, arguments);
  return std::make_shared<const Dataset>(std::move(own));
}

}  // namespace

std::shared_ptr<const Dataset> make_csv(const Arguments& arguments) {
  return read(arguments, Task::kClassification);
}

std::shared_ptr<const Dataset> make_csv_regression(const Arguments& arguments) {
  return read(arguments, Task::kRegression);
}

std::size_t samples_of_csv(const Arguments& arguments) {
  const Bytes text = SourceFile{"csv", arguments.text("path")}.read();
  std::size_t lines = 0;
  bool blank = true;
  for (const std::uint8_t c : text) {
    if (c == '\n') {
      lines += blank ? 0 : 1;
      blank = true;
    } else if (c != '\r') {
      blank = false;
    }
  }
  lines += blank ? 0 : 1;
  return training_part(lines > 0 ? lines - 1 : 0, arguments);  // without the header
}

}  // namespace hearsay::data
