#pragma once

#include <string>

#include "hearsay/train/config.h"
#include "hearsay/train/metrics.h"
#include "hearsay/train/trainer.h"

namespace hearsay::run {

/// What the processes of a run have cost, in process 0.
struct ProcessFigures {
  std::uint64_t peak_rss_bytes = 0;  ///< the largest of any
  double seconds_waited = 0;         ///< for other processes, in rounds; the mean over processes
  std::string isa;                   ///< of all, each once: bits may differ where there are several
};

/// All processes call this.
ProcessFigures figures_of_processes(const train::Trainer& trainer);

/// summary.json: the last evaluation, the traffic (`bytes_by_peer` what each sent over its edges,
/// `bytes_by_edge` rows of sender, receiver and bytes if the graph changes), the time, who held
/// which classes (`class_counts`, a row per peer), what a network saw (`batch` and `input`,
/// "3x32x32"), which `metrics` it has (metric_list.h), and what the run was: machine, seed, config
/// and the SHA-256 of the models. Names are stable; what a problem does not have is left out.
std::string summarize(const train::Trainer& trainer, const train::Config& config,
                      const train::Metrics& last, const ProcessFigures& processes,
                      const std::string& models_sha256);

}  // namespace hearsay::run
