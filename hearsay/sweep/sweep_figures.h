#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearsay::sweep {

/// A figure computed from two numbers of a line of metrics.jsonl, on the traffic up to that line:
///
///   bytes_per_edge_round        bytes_total / edge_rounds: mean size of a message on the wire
///   paper_bytes_per_edge_round  the same with bytes as counted in the papers
///   compression_factor          4 d / bytes_per_edge_round, with d parameters
///   paper_compression_factor    4 d / paper_bytes_per_edge_round
struct Ratio {
  std::string_view name;
  std::string_view bytes;  ///< the key that is divided by edge_rounds
  bool factor;             ///< 4 d divided by that
};
std::span<const Ratio> ratios();

/// Figures of a whole run, from its summary.json, whatever a figure's `at` and `window`:
///
///   seconds_per_round  of training, without evaluations
///   peak_rss_bytes     the largest resident memory of the process that had most
std::span<const std::string_view> run_keys();

/// The allowed keys of a figure: every number of metrics.jsonl, these ratios, and those of a run.
std::vector<std::string> figure_keys();

}  // namespace hearsay::sweep
