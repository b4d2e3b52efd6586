#include "hearsay/train/metric_list.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace hearsay::train {

namespace {

using engine::Metric;
using Json = nlohmann::json;

/// visitor(name, member) for the texts and for the other members of a row, so that writing, reading
/// and copying cannot differ.
template <class M, class Visitor>
void for_each_text(M& metric, const Visitor& visitor) {
  visitor("key", metric.key);
  visitor("name", metric.name);
  visitor("label", metric.label);
  visitor("unit", metric.unit);
  visitor("axis_unit", metric.axis_unit);
  visitor("mean_key", metric.mean_key);
  visitor("meaning", metric.meaning);
  visitor("note", metric.note);
}

template <class M, class Visitor>
void for_each_other(M& metric, const Visitor& visitor) {
  visitor("digits", metric.digits);
  visitor("significant", metric.significant);
  visitor("full", metric.full);
  visitor("log", metric.log);
  visitor("on_samples", metric.on_samples);
  visitor("by_peer", metric.by_peer);
}

/// Keys also name HTML elements, next to those of other charts.
bool is_key(std::string_view text) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_";
  constexpr std::string_view kTaken[] = {"bytes",    "controls", "divergence", "loss",
                                         "push_sum", "round",    "scatter",    "validation"};
  return !text.empty() && text.find_first_not_of(kAllowed) == std::string_view::npos &&
         std::ranges::find(kTaken, text) == std::end(kTaken);
}

bool is_plain_text(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  return text.size() <= MetricList::kMostText && std::ranges::none_of(text, is_control);
}

/// The texts of the row point into the JSON.
bool read_row(const Json& json, Metric& metric) {
  if (!json.is_object()) return false;
  for_each_text(metric, [&](const char* name, std::string_view& member) {
    const auto found = json.find(name);
    if (found != json.end() && found->is_string()) member = found->get_ref<const std::string&>();
  });
  for_each_other(metric, [&]<class T>(const char* name, T& member) {
    const auto found = json.find(name);
    if (found == json.end()) return;
    if constexpr (std::is_same_v<T, bool>) {
      if (found->is_boolean()) member = found->template get<bool>();
    } else if (found->is_number() && std::abs(found->template get<double>()) < 1e9) {
      member = found->template get<T>();
    }
  });
  metric.digits = std::clamp(metric.digits, 0, 9);
  const auto better = json.find("better");
  if (better != json.end() && *better == "smaller") metric.better = Metric::Better::kSmaller;
  if (metric.name.empty()) metric.name = metric.key;
  if (metric.label.empty()) metric.label = metric.name;
  bool good = is_key(metric.key) && (metric.mean_key.empty() || is_key(metric.mean_key));
  for_each_text(metric, [&](const char*, std::string_view text) { good &= is_plain_text(text); });
  return good;
}

}  // namespace

std::string describe(std::span<const Metric> metrics) {
  auto rows = nlohmann::ordered_json::array();
  for (const Metric& metric : metrics) {
    auto& row = rows.emplace_back(nlohmann::ordered_json::object());
    for_each_text(metric, [&](const char* name, std::string_view text) {
      if (!text.empty()) row[name] = text;
    });
    row["better"] = metric.better == Metric::Better::kLarger ? "larger" : "smaller";
    for_each_other(metric, [&](const char* name, auto value) { row[name] = value; });
  }
  return rows.dump();
}

MetricList::MetricList(std::string_view json) {
  const Json rows = Json::parse(json, nullptr, false);
  if (!rows.is_array()) {
    add(engine::known_metrics());
    return;
  }
  for (const Json& row : rows) {
    Metric metric{};
    if (read_row(row, metric)) add({&metric, 1});
  }
}

void MetricList::add(std::span<const Metric> metrics) {
  for (Metric metric : metrics) {
    if (rows_.size() == kMost) return;
    if (std::ranges::count(rows_, metric.key, &Metric::key) > 0) continue;
    auto texts = std::make_shared<std::vector<std::string>>();
    for_each_text(metric, [&](const char*, std::string_view text) { texts->emplace_back(text); });
    std::size_t next = 0;
    for_each_text(metric, [&](const char*, std::string_view& text) { text = (*texts)[next++]; });
    rows_.push_back(metric);
    texts_.push_back(std::move(texts));
  }
}

}  // namespace hearsay::train
