#include "hearsay/report/device_table.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "hearsay/core/text.h"
#include "hearsay/report/fit.h"
#include "hearsay/report/joined_run.h"

namespace hearsay::report {

namespace {

constexpr std::size_t kMostEventsInText = 20;

/// A figure of devices: its title, the last value that is known of a device, and how to print it.
struct DeviceColumn {
  std::string title;
  std::function<double(const Columns&)> value;
  std::function<std::string(double)> text;
};

/// Those that any of the devices has.
std::vector<DeviceColumn> columns_of(const ShownRun& run) {
  std::vector<DeviceColumn> columns;
  for (const engine::Metric& metric : run.record.metrics()) {
    columns.push_back(
        {fmt::format("{}{}{}", metric.label, metric.unit.empty() ? "" : " ", metric.unit),
         [key = engine::keys_of(metric).mean](const Columns& all) { return last_of(all, key); },
         [metric](double value) { return engine::format_value(metric, value); }});
  }
  const auto add = [&](const char* title, const char* key, int digits) {
    columns.push_back({title, [key](const Columns& all) { return last_of(all, key); },
                       [digits](double value) { return fmt::format("{:.{}g}", value, digits); }});
  };
  add("loss", "loss", 4);
  add("rounds/s", "rates_min", 3);
  add("weight u", "push_sum_min", 3);
  columns.push_back({"bytes sent", bytes_of, human_bytes});
  std::erase_if(columns, [&](const DeviceColumn& column) {
    return std::ranges::all_of(run.devices, [&](const Device& device) {
      return std::isnan(column.value(device.record.columns()));
    });
  });
  return columns;
}

Cell cell_in(const DeviceColumn& column, double value) {
  if (std::isfinite(value)) return {column.text(value), value};
  return {std::isnan(value) ? "-" : "not finite"};
}

std::string text_table(const Cells& rows, bool wide) {
  std::vector<std::vector<std::string>> texts;
  for (const auto& row : rows) {
    auto& out = texts.emplace_back();
    for (const Cell& cell : row) out.push_back(visible(cell.text));
  }
  return wide ? format_table(texts) : folded_table(texts);
}

}  // namespace

Cells device_cells(const ShownRun& run) {
  const std::vector<DeviceColumn> columns = columns_of(run);
  Cells rows{{{"device"}, {"state"}, {"round"}}};
  for (const DeviceColumn& column : columns) rows[0].push_back({column.title});
  for (const Device& device : run.devices) {
    const double round = last_of(device.record.columns(), "round");
    auto& row = rows.emplace_back();
    row.push_back({device.name});
    row.push_back({device.record.finished() ? "finished" : "not finished"});
    row.push_back(std::isnan(round) ? Cell{"-"} : Cell{fmt::format("{:.0f}", round), round});
    for (const DeviceColumn& column : columns) {
      row.push_back(cell_in(column, column.value(device.record.columns())));
    }
  }
  return rows;
}

Cells range_cells(const ShownRun& run) {
  Cells rows{{{"of the devices"}, {"mean"}, {"least"}, {"greatest"}}};
  for (const DeviceColumn& column : columns_of(run)) {
    double sum = 0, least = Columns::kAbsent, greatest = Columns::kAbsent;
    std::size_t known = 0;
    for (const Device& device : run.devices) {
      const double value = column.value(device.record.columns());
      if (std::isnan(value)) continue;
      sum += value;
      least = std::fmin(least, value);
      greatest = std::fmax(greatest, value);
      ++known;
    }
    if (known == 0) continue;
    rows.push_back({{column.title},
                    cell_in(column, sum / static_cast<double>(known)),
                    cell_in(column, least),
                    cell_in(column, greatest)});
  }
  return rows;
}

std::string devices_text(const Runs& runs, bool wide) {
  std::string text;
  for (const ShownRun& run : runs.runs) {
    if (run.devices.empty()) continue;
    text += fmt::format("\n{}\n{}\n{}", run.label, text_table(range_cells(run), wide),
                        text_table(device_cells(run), wide));
    for (const std::string& note : run.notes) text += visible(note) + "\n";
    if (!run.fleet.events.empty()) text += "\nlast events (UTC)\n";
    for (std::size_t k = 0; k < std::min(run.fleet.events.size(), kMostEventsInText); ++k) {
      const FleetEvent& event = run.fleet.events[k];
      text += fmt::format("{}  {}: {}\n", time_text(event.time), visible(event.device),
                          visible(event.event));
    }
  }
  return text;
}

}  // namespace hearsay::report
