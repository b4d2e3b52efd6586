#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "hearsay/train/sweep.h"

namespace hearsay::train {

/// What a figure's key can be: every number of metrics.jsonl, and with d parameters and what
/// crossed the edges until then
///
///   bytes_per_edge_round        bytes_total / edge_rounds: a message as it goes over the wire
///   paper_bytes_per_edge_round  the same as the seed papers count bytes
///   compression_factor          4 d / bytes_per_edge_round
///   paper_compression_factor    4 d / paper_bytes_per_edge_round
std::vector<std::string> figure_keys();

/// The evaluations of a finished run.
class Curve {
 public:
  /// Lines that are damaged are passed over and named (problems), as pages do. Throws CorruptData
  /// if summary.json is damaged, or more than 20 lines or all are; RunFailed if there is no
  /// summary.json.
  explicit Curve(const std::filesystem::path& run);
  ~Curve();
  Curve(Curve&&) noexcept;

  /// The figure of this run, scaled; `against` and `above` are for several runs and not heeded.
  /// Empty if the run has no such number.
  std::optional<double> value(const Figure& figure) const;

  /// The same at another round than the figure's: the mean over the evaluations of the rounds
  /// (round - window, round], or the evaluation of that round.
  std::optional<double> value(const Figure& figure, std::uint64_t round) const;

  std::uint64_t last_round() const;

  /// "[sweep] runs/a/metrics.jsonl, line 3: it is no JSON object"
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void take(const std::string& text, const std::string& where);
  std::optional<double> number(const nlohmann::json& line, const std::string& key) const;
  std::optional<double> ratio(const nlohmann::json& line, const std::string& key) const;
  std::uint64_t trained_round() const;

  std::vector<std::string> problems_;
  std::vector<nlohmann::json> lines_;
  std::vector<nlohmann::json> summary_;  ///< one
};

}  // namespace hearsay::train
