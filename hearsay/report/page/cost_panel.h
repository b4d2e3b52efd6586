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

}  // namespace hearsay::report
