#include "hearsay/sweep/row_settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/backend/device.h"
#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"
#include "hearsay/data/dataset.h"
#include "hearsay/run/check.h"

namespace hearsay::sweep {

namespace {

/// Removes the location from another part's message: "[config] x" becomes "x".
std::string_view without_place(std::string_view text) {
  return text.starts_with("[config] ") ? text.substr(9) : text;
}

}  // namespace

bool needs_path(std::string_view data) {
  const auto entries = data::dataset_registry();
  const auto entry = std::ranges::find(entries, data, &data::DatasetEntry::name);
  return entry != entries.end() && !entry->parameters.empty() &&
         entry->parameters.front().key == "path";
}

/// Also where epochs and rounds are alternatives.
void RowSettings::apply(const SweepFile::Settings& layer) {
  for (const SweepFile::Setting& setting : layer) {
    if (setting.key == "epochs") settings_.erase("rounds");
    if (setting.key == "rounds") settings_.erase("epochs");
  }
  for (SweepFile::Setting setting : layer) {
    constexpr std::string_view kHere = "{here}";
    if (const auto at = setting.value.find(kHere); at != std::string::npos) {
      setting.value.replace(at, kHere.size(), here_);
    }
    settings_.insert_or_assign(setting.key, std::move(setting));
  }
}

std::string RowSettings::complete(const std::map<std::string, std::string>& where,
                                  const std::map<std::string, std::string>& given) {
  if (const auto data = settings_.find("data");
      data != settings_.end() && needs_path(data->second.value)) {
    const auto path = where.find(data->second.value);
    if (path == where.end()) {
      return fmt::format("no data; give --where {}=PATH", data->second.value);
    }
    data->second.value += ":" + path->second;
  }
  const auto device = given.find("device");
  const auto precision = settings_.find("precision");
  if (device == given.end() || precision == settings_.end() || given.contains("precision") ||
      precision->second.value == "auto" ||
      backend::device_registry().arguments(device->second).given("precision") ||
      !backend::is_precision(precision->second.value)) {
    return "";
  }
  try {
    backend::with_precision(device->second, precision->second.value);
  } catch (const InvalidArgument& error) {
    return fmt::format("not on --device {}: {}", device->second, error.what());
  }
  return "";
}

train::RunOptions RowSettings::options(const std::string& file) const {
  train::RunOptions config;
  config.compare = train::Compare::kNo;
  for (const auto& [key, setting] : settings_) {
    try {
      config.set(key, setting.value);
      run::check_value(key, setting.value);
    } catch (const InvalidArgument& error) {
      if (setting.line == 0) throw;
      throw InvalidArgument(
          fmt::format("[{}, line {}] {}", file, setting.line, without_place(error.what())));
    }
  }
  return config;
}

}  // namespace hearsay::sweep
