#pragma once

#include <string>

#include "hearsay/train/metrics.h"
#include "hearsay/train/run_options.h"

/// Evaluations as terminal lines.
namespace hearsay::report {

/// "loss 0.6321    accuracy 82.25 % (80.50 .. 84.10) consensus distance 0.31       16.3 kB": the
/// most important numbers, in `width` characters if possible. If they do not all fit, the least
/// important are dropped. `bytes`: sent by all peers so far.
std::string evaluation_text(const train::Metrics& metrics, double bytes, int width);

/// " 82.25 %": a value with its unit, padded so that the values of different peers align.
std::string peer_value_text(const engine::Metric& metric, double value);

/// "; receivers: clip; peers 3, 9 lie (noise), and means are without them"; empty if all believe
/// each other and rightly so. `config` is resolved.
std::string liars_text(const train::RunOptions& config);

}  // namespace hearsay::report
