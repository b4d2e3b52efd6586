#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hearsay/cost/cost.h"
#include "hearsay/report/record.h"

namespace hearsay::report {

/// What a round of a run asks of a peer (cost.h), beside a device that trains alone on the samples
/// of all peers. Bytes are those that the run sent, the mean over peers and rounds, global averages
/// included; what a peer receives is taken to be as much.
struct CostPanel {
  struct Device {
    std::string label;  ///< "1 device, 128 samples"
    cost::Cost cost;
  };
  std::vector<Device> devices;
  std::string energy;  ///< the model of it, with its constants
};

/// Nothing of a run that trains no network, has not finished, or was made before runs told what
/// their networks see.
std::optional<CostPanel> cost_panel(const Record& record);

/// What a round asks of a device, alone and as one of many, as HTML: a table, and frames for charts
/// of memory, compute and energy. `prefix` begins the ids of the charts.
std::string cost_section(const CostPanel& panel, const std::string& prefix);

/// The same for the page's scripts: {"id": prefix, "devices": [{"label", "model_bytes",
/// "activation_bytes", "multiply_adds", "compute", "memory", "radio"}]}; energies in joules.
std::string cost_json(const CostPanel& panel, const std::string& prefix);

}  // namespace hearsay::report
