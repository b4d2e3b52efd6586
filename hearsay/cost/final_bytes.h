#pragma once

#include "hearsay/train/run_options.h"
#include "hearsay/train/run_view.h"

namespace hearsay::cost {

/// The bytes that all peers of a run are expected to send: in training, and in the final rounds of
/// its method (scsp), which send whole models. Global averages are not counted.
struct ExpectedBytes {
  double training = 0;
  double final = 0;

  /// The part of all bytes that the final rounds send, in [0, 1].
  double final_share() const { return final > 0 ? final / (training + final) : 0; }
};

/// Of a run whose `config` is resolved and names its algorithm and compressor; messages are taken
/// to be as long as those of random models.
ExpectedBytes expected_bytes(const train::RunView& run, const train::RunOptions& config);

}  // namespace hearsay::cost
