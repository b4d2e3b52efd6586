#include "hearsay/cost/final_bytes.h"

#include "hearsay/cost/cost.h"

namespace hearsay::cost {

ExpectedBytes expected_bytes(const train::RunView& run, const train::RunOptions& config) {
  const Layout& layout = run.objective().layout();
  const double messages = run.graph().messages_per_round;
  return {.training = messages * static_cast<double>(run.training_rounds()) *
                      message_bytes(config.algorithm, config.compressor, layout),
          .final = run.final_rounds() == 0 ? 0
                                           : messages * static_cast<double>(run.final_rounds()) *
                                                 vector_bytes("identity", layout)};
}

}  // namespace hearsay::cost
