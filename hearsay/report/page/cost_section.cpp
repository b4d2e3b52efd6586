#include "hearsay/report/page/cost_panel.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/text.h"
#include "hearsay/report/page/html.h"

namespace hearsay::report {

std::string cost_section(const CostPanel& panel, const std::string& prefix) {
  Cells rows{{{"per device and round"},
              {"memory"},
              {"of it activations"},
              {"multiply-adds forward"},
              {"FLOPs, training"},
              {"bytes sent"},
              {"energy"}}};
  for (const CostPanel::Device& device : panel.devices) {
    const cost::Cost& round = device.cost;
    rows.push_back({{device.label},
                    {human_bytes(round.memory_bytes()), round.memory_bytes()},
                    {human_bytes(round.activation_bytes), round.activation_bytes},
                    {human_count(round.multiply_adds), round.multiply_adds},
                    {human_count(round.training_flops()), round.training_flops()},
                    {human_bytes(round.sent_bytes), round.sent_bytes},
                    {cost::human_joules(round.energy.total()), round.energy.total()}});
  }
  return "<h2>Cost per device and round</h2>\n<div class=\"sheet\">" + html_table(rows) +
         "</div>\n<div class=\"charts costs\">\n" +
         chart_figure(prefix + "chart-cost-memory", "Memory",
                      "Arrays of the model's size, and activations.") +
         chart_figure(prefix + "chart-cost-compute", "Compute",
                      "Multiply-adds of the forward pass; training takes three times that.") +
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
                               {"model_bytes", round.model_bytes},
                               {"activation_bytes", round.activation_bytes},
                               {"multiply_adds", round.multiply_adds},
                               {"compute", round.energy.compute},
                               {"memory", round.energy.memory},
                               {"radio", round.energy.radio}});
  }
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace hearsay::report
