#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearsay/gossip/ledger.h"
#include "hearsay/run/metrics_file.h"
#include "hearsay/train/metrics.h"
#include "hearsay/train/run_options.h"
#include "hearsay/train/run_view.h"

namespace hearsay::run {

/// Something that went wrong in a run that went on.
struct Warning {
  std::string kind;    ///< diverged, chance, consensus, fell-back, behind or failed: stable
  std::string what;    ///< what happened, where and when, with the numbers
  std::string advice;  ///< settings to try: "--lr cosine:0.01 or --rounds 1000"

  /// "WHAT; try ADVICE", one line.
  std::string text() const;
};

/// As files have them: [{"kind": "chance", "what": "...", "try": "..."}]. Returns JSON.
std::string to_json(std::span<const Warning> warnings);

/// What is known of a run besides its evaluations.
struct Circumstances {
  std::uint64_t training_rounds = 0;
  double averaging_rate = 1;
  /// Of a classification, the accuracy in percent of always naming the most frequent class.
  std::optional<double> commonest{};
};
Circumstances circumstances_of(const train::RunView& run);

/// Judges a run by its evaluations. It warns of a run
///
///   diverged   whose loss is not a number at the end, or whose loss, or a metric of which less is
///              better, is ten times that of the beginning
///   chance     of at least kFewRounds rounds whose peers at the end are hardly better than the
///              most frequent class, or in a regression not better than the mean (R2 <= 0)
///   consensus  whose consensus distance late in training is at least ten times the largest of its
///              first third; not if the method does not communicate
///   fell-back  with a peer that lost more than half of its best accuracy above chance: at the end,
///              or in the second half of training for a while, after it had most of what it ends
///              with
///   behind     with a peer that at the end has less than half of the median peer's accuracy above
///              chance; not if the method does not communicate
///
/// One warning a kind, of the worst peer; a run at chance is not judged by its single peers. Peers
/// without figures (dead, or liars) are left out. Keeps a few numbers per peer, however many
/// evaluations there are.
class Diagnosis {
 public:
  static constexpr std::uint64_t kFewRounds = 20;
  /// Until then peers swing, and neither fall back nor drift apart.
  static constexpr std::uint64_t kFirstRounds = 100;

  /// `config` is resolved.
  Diagnosis(const train::RunOptions& config, const Circumstances& of);

  /// The next evaluation; rounds ascend.
  void see(const train::Metrics& evaluation);

  /// The most important first.
  std::vector<Warning> warnings() const;

 private:
  struct Peer {
    double best = 0;
    std::uint64_t best_round = 0;
    double last = 0;
    bool has_figures = false;  ///< at the last evaluation
  };
  struct Fall {
    std::size_t peer = 0;
    double from = 0, to = 0;
    std::uint64_t from_round = 0, to_round = 0;
  };

  void see_peers(const train::Metrics& evaluation);
  std::optional<Warning> diverged() const;
  std::optional<Warning> at_chance() const;
  std::optional<Warning> apart() const;
  std::optional<Warning> fallen() const;
  std::optional<Warning> behind() const;
  bool communicates() const;

  train::RunOptions config_;
  Circumstances of_;
  std::optional<train::Metrics> first_, last_;
  std::vector<Peer> peers_;
  std::optional<Fall> fall_;  ///< the deepest in the second half
  double early_distance_ = 0, late_distance_ = 0;
  std::uint64_t late_round_ = 0;
};

/// The warnings of a run whose evaluations are in that file.
std::vector<Warning> diagnose(const train::RunOptions& config, const train::RunView& run,
                              const MetricsFile& metrics);

/// Of a run that ends because a loss or a model is no longer finite.
Warning warning_of(const gossip::NotFinite& error, const train::RunOptions& config);

}  // namespace hearsay::run
