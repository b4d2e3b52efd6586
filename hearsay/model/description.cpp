#include "hearsay/model/description.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/error.h"
#include "hearsay/core/utf8.h"
#include "hearsay/core/version.h"

namespace hearsay::model {

namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr std::uint64_t kMost = 0x7fffffff;

std::vector<std::string> printable(const std::vector<std::string>& names) {
  std::vector<std::string> escaped;
  for (const std::string& name : names) escaped.push_back(escape_non_utf8(name));
  return escaped;
}

/// Reads the members of a description, each with the limits of what hearsay writes.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {
    if (!json.is_object()) fail("is no JSON object");
  }

  [[noreturn]] static void fail(std::string_view why) {
    throw CorruptData(fmt::format("its description {}", why));
  }

  std::string text(const char* key) const {
    const Json& value = at(key);
    if (!value.is_string()) fail(fmt::format("has a '{}' that is no text", key));
    return value.get<std::string>();
  }

  std::size_t natural(const char* key) const { return natural(at(key), key); }

  Shape shape(const char* key) const {
    const Json& value = at(key);
    if (!value.is_array() || value.size() != 3) {
      fail(fmt::format("has a '{}' that is not channels, height and width", key));
    }
    return {natural(value[0], key), natural(value[1], key), natural(value[2], key)};
  }

  float number(const char* key, bool positive = false) const {
    return number(at(key), key, positive);
  }

  std::vector<float> numbers(const char* key, std::size_t count, bool positive = false) const {
    const Json& value = list(key, count);
    std::vector<float> numbers;
    for (const Json& entry : value) numbers.push_back(number(entry, key, positive));
    return numbers;
  }

  /// Empty if there is no such member.
  std::vector<std::string> names(const char* key, std::size_t count) const {
    if (!json_.contains(key)) return {};
    std::vector<std::string> names;
    for (const Json& entry : list(key, count)) {
      if (!entry.is_string()) fail(fmt::format("has a name in '{}' that is no text", key));
      names.push_back(entry.get<std::string>());
    }
    return names;
  }

 private:
  const Json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) fail(fmt::format("has no '{}'", key));
    return *found;
  }

  const Json& list(const char* key, std::size_t count) const {
    const Json& value = at(key);
    if (!value.is_array() || value.size() != count) {
      fail(fmt::format("has a '{}' that is no list of {}", key, count));
    }
    return value;
  }

  static std::size_t natural(const Json& value, const char* key) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0 ||
        value.get<std::uint64_t>() > kMost) {
      fail(fmt::format("has a '{}' that is not 1 to {}", key, kMost));
    }
    return value.get<std::size_t>();
  }

  static float number(const Json& value, const char* key, bool positive) {
    const float number = value.is_number() ? static_cast<float>(value.get<double>()) : NAN;
    if (!std::isfinite(number) || (positive && !(number > 0))) {
      fail(fmt::format("has a '{}' that is not made of {}numbers", key,
                       positive ? "positive " : ""));
    }
    return number;
  }

  const Json& json_;
};

}  // namespace

std::string Description::output_name(std::size_t k) const {
  const std::vector<std::string>& names = regression() ? targets : classes;
  return k < names.size() ? names[k] : fmt::format("{}", k);
}

std::string to_json(const Description& description) {
  nlohmann::ordered_json json{
      {"format", kFormat},
      {"hearsay", version()},
      {"model", description.model},
      {"input", {description.input.channels, description.input.height, description.input.width}},
      {"scale", description.scale},
      {"mean", description.mean},
      {"deviation", description.deviation}};
  if (!description.features.empty()) json["features"] = printable(description.features);
  json["task"] = description.task;
  json["loss"] = description.loss;
  json["outputs"] = description.outputs;
  if (description.regression()) {
    if (!description.targets.empty()) json["targets"] = printable(description.targets);
    json["target_mean"] = description.target_mean;
    json["target_deviation"] = description.target_deviation;
  } else if (!description.classes.empty()) {
    json["classes"] = printable(description.classes);
  }
  return json.dump();
}

Description parse_description(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const Reader read(json);
  if (read.natural("format") > kFormat) {
    Reader::fail(fmt::format("is of hearsay {}, and this is {}; use that version or a later one",
                             read.text("hearsay"), version()));
  }
  Description description{
      .model = read.text("model"),
      .input = read.shape("input"),
      .scale = read.number("scale", true),
      .task = read.text("task"),
      .loss = read.text("loss"),
      .outputs = read.natural("outputs"),
      .version = read.text("hearsay"),
  };
  if (description.task != "classification" && description.task != "regression") {
    Reader::fail(fmt::format("has the task '{}'", description.task));
  }
  const std::size_t channels = description.input.channels, outputs = description.outputs;
  description.mean = read.numbers("mean", channels);
  description.deviation = read.numbers("deviation", channels, true);
  description.features = read.names("features", channels);
  if (description.regression()) {
    description.targets = read.names("targets", outputs);
    description.target_mean = read.numbers("target_mean", outputs);
    description.target_deviation = read.numbers("target_deviation", outputs, true);
  } else {
    description.classes = read.names("classes", outputs);
  }
  return description;
}

}  // namespace hearsay::model
