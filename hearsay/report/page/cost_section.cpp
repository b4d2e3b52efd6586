#include "hearsay/report/page/cost_panel.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/text.h"
#include "hearsay/report/page/html.h"

namespace hearsay::report {

namespace {

/// Adds what was measured: a row, its memory under what was counted, and a column for its time.
void add_measured(const CostPanel::Measured& measured, Cells& rows) {
  if (!measured.round_seconds && !measured.resident_bytes) return;
  std::vector<Cell> row(rows.front().size(), Cell{""});
  row[0] = {measured.label};
  if (measured.resident_bytes)
    row[1] = {human_bytes(*measured.resident_bytes), *measured.resident_bytes};
  rows.push_back(row);
  if (!measured.round_seconds) return;
  for (std::vector<Cell>& each : rows) each.push_back({""});
  rows.front().back() = {"time"};
  rows.back().back() = {fmt::format("{:.3g} ms", 1000 * *measured.round_seconds),
                        *measured.round_seconds};
}

bool in_fp32(const CostPanel& panel) {
  return panel.devices.front().cost.precision == backend::Precision::kFp32;
}

std::string compute_note(const CostPanel& panel) {
  if (in_fp32(panel)) return "Multiply-adds of the forward pass; training takes three times that.";
  return "Multiply-adds of the forward pass, weighted by the bits of their factors: 8 bits count a "
         "quarter of 32.";
}

}  // namespace

std::string cost_section(const CostPanel& panel, const std::string& prefix) {
  Cells rows{{{"per device and round"},
              {"memory"},
              {"of it activations"},
              {"multiply-adds forward"},
              {"multiply-adds training"},
              {"bytes sent"},
              {"energy"}}};
  if (!in_fp32(panel)) rows[0].insert(rows[0].begin() + 5, {"weighted by bits"});
  for (const CostPanel::Device& device : panel.devices) {
    const cost::Cost& round = device.cost;
    rows.push_back({{device.label},
                    {human_bytes(round.memory_bytes()), round.memory_bytes()},
                    {human_bytes(round.activation_bytes), round.activation_bytes},
                    {human_count(round.multiply_adds()), round.multiply_adds()},
                    {human_count(round.training_multiply_adds()), round.training_multiply_adds()},
                    {human_bytes(round.sent_bytes), round.sent_bytes},
                    {cost::human_joules(round.energy.total()), round.energy.total()}});
    if (in_fp32(panel)) continue;
    const double weighted = round.weighted_training_multiply_adds();
    rows.back().insert(rows.back().begin() + 5, {human_count(weighted), weighted});
  }
  add_measured(panel.measured, rows);
  return "<h2>Cost per device and round</h2>\n<div class=\"sheet\">" + html_table(rows) +
         "</div>\n<div class=\"charts costs\">\n" +
         chart_figure(prefix + "chart-cost-memory", "Memory",
                      "Arrays of the model's size, and activations.") +
         chart_figure(prefix + "chart-cost-compute", "Compute", compute_note(panel)) +
         chart_figure(prefix + "chart-cost-energy", "Energy",
                      fmt::format("A model, not a measurement: {}.", panel.energy)) +
         "</div>\n";
}

std::string cost_json(const CostPanel& panel, const std::string& prefix) {
  using Json = nlohmann::ordered_json;
  Json json{{"id", prefix}, {"devices", Json::array()}};
  for (const CostPanel::Device& device : panel.devices) {
    const cost::Cost& round = device.cost;
    json["devices"].push_back({{"label", device.label},
                               {"model_bytes", round.model_bytes + round.code_bytes},
                               {"activation_bytes", round.activation_bytes},
                               {"multiply_adds", round.weighted_multiply_adds()},
                               {"compute", round.energy.compute},
                               {"memory", round.energy.memory},
                               {"radio", round.energy.radio}});
  }
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace hearsay::report
