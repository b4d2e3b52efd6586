#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearsay::sweep {

/// A figure made of two of a line of metrics.jsonl, what crossed the edges until then:
///
///   bytes_per_edge_round        bytes_total / edge_rounds: a message as it goes over the wire
///   paper_bytes_per_edge_round  the same as the papers count bytes
///   compression_factor          4 d / bytes_per_edge_round, with d parameters
///   paper_compression_factor    4 d / paper_bytes_per_edge_round
struct Ratio {
  std::string_view name;
  std::string_view bytes;  ///< what is divided by edge_rounds
  bool factor;             ///< 4 d over that
};
std::span<const Ratio> ratios();

/// What a figure's key can be: every number of metrics.jsonl, and these ratios.
std::vector<std::string> figure_keys();

}  // namespace hearsay::sweep
