#pragma once

#include <string>

#include "hearsay/train/metrics.h"

/// Evaluations as lines of a terminal.
namespace hearsay::report {

/// "loss 0.6321    accuracy 82.25 % (80.50 .. 84.10) divergence 0.31       16.3 kB": the numbers
/// that matter most, in `width` characters if at all possible. Where there is no room for all, the
/// least important go. `bytes`: what all peers have sent by now.
std::string evaluation_text(const train::Metrics& metrics, double bytes, int width);

/// " 82.25 %": a value with its unit, so wide that those of different peers stand below each other.
std::string peer_value_text(const engine::Metric& metric, double value);

}  // namespace hearsay::report
