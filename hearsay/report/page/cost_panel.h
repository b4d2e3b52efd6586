#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hearsay/cost/cost.h"
#include "hearsay/report/record.h"

namespace hearsay::report {

/// The cost of a round for a peer (cost.h), beside that of a device that trains alone on the
/// samples of all peers. Bytes are those that the run sent, the mean over peers and rounds, global
/// averages included; a peer is assumed to receive as much as it sends.
struct CostPanel {
  struct Device {
    std::string label;  ///< "1 device, 128 samples"
    cost::Cost cost;
  };
  std::vector<Device> devices;
  std::string energy;  ///< the energy model, with its constants
};

/// Empty for a run that trains no network, has not finished, or is of a version that did not record
/// the input shape of its network.
std::optional<CostPanel> cost_panel(const Record& record);

/// The cost of a round for a device alone and for one of many, as HTML: a table, and frames for
/// charts of memory, compute and energy. `prefix` begins the ids of the charts.
std::string cost_section(const CostPanel& panel, const std::string& prefix);

/// The same for the page's scripts: {"id": prefix, "devices": [{"label", "model_bytes",
/// "activation_bytes", "multiply_adds", "compute", "memory", "radio"}]}; energies in joules.
std::string cost_json(const CostPanel& panel, const std::string& prefix);

}  // namespace hearsay::report
