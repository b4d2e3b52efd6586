#pragma once

#include <string>

#include "hearsay/report/page/cost_panel.h"

namespace hearsay::report {

/// What a round asks of a device, alone and as one of many, as HTML: a table, and frames for charts
/// of memory, compute and energy. `prefix` begins the ids of the charts.
std::string cost_section(const CostPanel& panel, const std::string& prefix);

/// The same for the page's scripts: {"id": prefix, "devices": [{"label", "model_bytes",
/// "activation_bytes", "multiply_adds", "compute", "memory", "radio"}]}; energies in joules.
std::string cost_json(const CostPanel& panel, const std::string& prefix);

}  // namespace hearsay::report
