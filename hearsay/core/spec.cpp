#include "hearsay/core/spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/error.h"

namespace hearsay {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

template <class T>
bool parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// An interval in the notation of the tables: "(0, 1]", "[1, inf)".
struct Interval {
  double low, high;
  bool low_open, high_open;

  explicit Interval(std::string_view text) {
    const std::size_t comma = text.find(',');
    low_open = text.front() == '(';
    high_open = text.back() == ')';
    std::string_view first = text.substr(1, comma - 1);
    std::string_view second = text.substr(comma + 1, text.size() - comma - 2);
    while (!second.empty() && second.front() == ' ') second.remove_prefix(1);
    if (!parse(first, low)) low = -std::numeric_limits<double>::infinity();
    if (second == "inf" || !parse(second, high)) high = std::numeric_limits<double>::infinity();
  }

  bool contains(double value) const {
    return (low_open ? value > low : value >= low) && (high_open ? value < high : value <= high);
  }
};

/// What other programs call a component: reject_name suggests ours, where the family has it.
constexpr std::pair<std::string_view, std::string_view> kWordsOfOthers[] = {
    {"gpu", "cuda"},      {"none", "identity"}, {"allreduce", "psgd"},
    {"full", "complete"}, {"mesh", "complete"}, {"fully-connected", "complete"},
};

}  // namespace

std::string_view spec_name(std::string_view spec) { return spec.substr(0, spec.find(':')); }

Arguments::Arguments(std::string_view spec, std::span<const Parameter> parameters)
    : name_(spec_name(spec)), parameters_(parameters), given_(parameters.size(), false) {
  for (const Parameter& parameter : parameters) values_.emplace_back(parameter.fallback);
  if (name_.size() < spec.size()) {
    const std::string_view body = spec.substr(name_.size() + 1);
    if (!parameters.empty() && parameters.front().allowed == kVerbatim) {
      values_.front() = body;
      given_.front() = true;
    } else {
      std::size_t place = 0;
      for (std::string_view item : split(body, ',')) {
        const std::size_t equals = item.find('=');
        const bool bare = equals == std::string_view::npos;
        if (item.empty() || (bare && place >= parameters.size())) {
          throw InvalidArgument(
              parameters.empty()
                  ? fmt::format("[{}] takes no parameters, got '{}'", name_, body)
                  : fmt::format("[{}] cannot read '{}' in '{}'; write {}:key=value,key=value",
                                name_, item, spec, name_));
        }
        const std::size_t index = bare ? place : index_of(item.substr(0, equals));
        if (given_[index]) {
          throw InvalidArgument(
              fmt::format("[{}] {} is given twice in '{}'", name_, parameters[index].key, spec));
        }
        values_[index] = bare ? item : item.substr(equals + 1);
        given_[index] = true;
        ++place;
      }
    }
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (values_[i].empty()) {
      throw InvalidArgument(fmt::format("[{}] {} must be given ({}): {}", name_, parameters[i].key,
                                        parameters[i].allowed, parameters[i].meaning));
    }
  }
}

std::size_t Arguments::index_of(std::string_view key) const {
  std::vector<std::string_view> keys;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].key == key) return i;
    keys.push_back(parameters_[i].key);
  }
  if (keys.empty()) {
    throw InvalidArgument(fmt::format("[{}] takes no parameters, got '{}'", name_, key));
  }
  const std::string_view close = nearest(key, keys);
  throw InvalidArgument(fmt::format(
      "[{}] has no parameter '{}'{}; it takes {}", name_, key,
      close.empty() ? "" : fmt::format(" (did you mean '{}'?)", close), fmt::join(keys, ", ")));
}

bool Arguments::given(std::string_view key) const { return given_[index_of(key)]; }

const std::string& Arguments::text(std::string_view key) const { return values_[index_of(key)]; }

void Arguments::reject(std::string_view key, std::string_view allowed) const {
  throw InvalidArgument(fmt::format("[{}] {} must be {}, got {}", name_, key, allowed, text(key)));
}

double Arguments::number(std::string_view key) const {
  double value = 0;
  if (!parse(text(key), value) || !std::isfinite(value)) reject(key, "a number");
  return value;
}

std::int64_t Arguments::integer(std::string_view key) const {
  std::int64_t value = 0;
  if (!parse(text(key), value)) reject(key, "a whole number");
  return value;
}

bool Arguments::flag(std::string_view key) const {
  if (text(key) != "0" && text(key) != "1") reject(key, "0 or 1");
  return text(key) == "1";
}

double Arguments::number_in_range(std::string_view key) const {
  const std::string_view allowed = parameters_[index_of(key)].allowed;
  double value = 0;
  if (!parse(text(key), value) || !std::isfinite(value) || !Interval(allowed).contains(value)) {
    reject(key, fmt::format("in {}", allowed));
  }
  return value;
}

std::int64_t Arguments::integer_in_range(std::string_view key) const {
  const std::string_view allowed = parameters_[index_of(key)].allowed;
  std::int64_t value = 0;
  if (!parse(text(key), value) || !Interval(allowed).contains(static_cast<double>(value))) {
    reject(key, fmt::format("a whole number in {}", allowed));
  }
  return value;
}

std::size_t Arguments::choice(std::string_view key) const {
  const std::vector<std::string_view> names = split(parameters_[index_of(key)].allowed, '|');
  const auto found = std::ranges::find(names, std::string_view(text(key)));
  if (found == names.end()) reject(key, fmt::format("one of {}", fmt::join(names, ", ")));
  return static_cast<std::size_t>(found - names.begin());
}

std::string Arguments::resolved() const {
  std::string text = name_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    text += i == 0 ? ':' : ',';
    const bool verbatim = parameters_[i].allowed == kVerbatim;
    text += verbatim ? values_[i] : fmt::format("{}={}", parameters_[i].key, values_[i]);
    if (verbatim) break;
  }
  return text;
}

std::string with_value(std::string_view spec, std::string_view from, std::string_view to) {
  constexpr std::string_view kBefore = ":,=";
  std::string text(spec);
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
    const std::size_t end = at + from.size();
    const bool begins = at > 0 && kBefore.find(text[at - 1]) != std::string_view::npos;
    if (begins && (end == text.size() || text[end] == ',')) text.replace(at, from.size(), to);
  }
  return text;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (std::string_view name : names) {
    std::vector<std::size_t> row(name.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= name.size(); ++j) {
        const std::size_t substitution = diagonal + (word[i - 1] == name[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = name;
    }
  }
  return best;
}

void reject_name(std::string_view family, std::string_view name,
                 std::span<const std::string_view> names) {
  std::string_view close = nearest(name, names);
  for (const auto& [word, ours] : kWordsOfOthers) {
    if (word == name && std::ranges::find(names, ours) != names.end()) close = ours;
  }
  throw InvalidArgument(fmt::format(
      "[{}] no {} is named '{}'{}; there are {}", family, family, name,
      close.empty() ? "" : fmt::format(" (did you mean '{}'?)", close), fmt::join(names, ", ")));
}

}  // namespace hearsay
