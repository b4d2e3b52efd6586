#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hearsay/cost/cost.h"
#include "hearsay/report/record.h"

namespace hearsay::report {

/// The cost of a round for a peer (cost.h), beside that of a device that trains alone on the
/// samples of all peers, in the precision of the run; in another than fp32, that of a peer in fp32
/// too. Bytes are those that the run sent, the mean over peers and rounds, global averages
/// included; a peer is assumed to receive as much as it sends.
struct CostPanel {
  struct Device {
    std::string label;  ///< "1 device, 128 samples, int8"
    cost::Cost cost;
  };
  /// What the run took, all its peers together.
  struct Measured {
    std::string label;  ///< "measured: all 4 peers in 1 process"
    std::optional<double> round_seconds;
    std::optional<double> resident_bytes;  ///< at most, of the process that had most
  };
  std::vector<Device> devices;
  Measured measured;
  std::string energy;  ///< the energy model, with its constants
};

/// Empty for a run that trains no network, has not finished, or is of a version that did not record
/// the input shape of its network.
std::optional<CostPanel> cost_panel(const Record& record);

/// The cost of a round for a device alone and for one of many, as HTML: a table with what was
/// measured in its last row, and frames for charts of memory, compute and energy. `prefix` begins
/// the ids of the charts.
std::string cost_section(const CostPanel& panel, const std::string& prefix);

/// The same for the page's scripts: {"id": prefix, "devices": [{"label", "model_bytes",
/// "activation_bytes", "multiply_adds", "compute", "memory", "radio"}]}; model_bytes with the codes
/// of weights, energies in joules.
std::string cost_json(const CostPanel& panel, const std::string& prefix);

}  // namespace hearsay::report
