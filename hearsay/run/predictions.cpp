#include "hearsay/run/predictions.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace hearsay::run {

namespace {

/// A field of RFC 4180.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

}  // namespace

std::string predictions_csv(const data::Samples& samples, const model::Description& description,
                            std::span<const float> outputs) {
  const std::size_t width = description.outputs;
  std::string csv;
  const auto to = std::back_inserter(csv);
  const auto name = [&](std::size_t k) { return quoted(description.output_name(k)); };
  if (description.regression()) {
    for (std::size_t k = 0; k < width; ++k) {
      const std::string target = description.output_name(k);
      fmt::format_to(to, "{}{},{}", k == 0 ? "" : ",", quoted(target),
                     quoted("predicted " + target));
    }
  } else {
    csv = "label,predicted";
    for (std::size_t k = 0; k < width; ++k) fmt::format_to(to, ",{}", name(k));
  }
  csv += '\n';
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::span<const float> row = outputs.subspan(i * width, width);
    if (description.regression()) {
      for (std::size_t k = 0; k < width; ++k) {
        fmt::format_to(to, "{}{},{}", k == 0 ? "" : ",", samples.targets.as<float>()[i * width + k],
                       description.target_mean[k] + description.target_deviation[k] * row[k]);
      }
    } else {
      const auto best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
      fmt::format_to(to, "{},{}", name(samples.labels()[i]), name(best));
      for (const float logit : row) fmt::format_to(to, ",{}", logit);
    }
    csv += '\n';
  }
  return csv;
}

}  // namespace hearsay::run
