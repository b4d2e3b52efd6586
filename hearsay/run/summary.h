#pragma once

#include <string>

#include "hearsay/run/diagnosis.h"
#include "hearsay/train/metrics.h"
#include "hearsay/train/run_options.h"
#include "hearsay/train/trainer.h"

namespace hearsay::run {

/// The resources that the processes of a run have used, on rank 0.
struct ProcessFigures {
  std::size_t processes = 1;
  std::string transport{};           ///< how they talk
  std::uint64_t peak_rss_bytes = 0;  ///< the maximum over processes
  double seconds_waited = 0;         ///< for other processes, in rounds; the mean over processes
  std::string isa{};                 ///< of all, each once: bits may differ if there are several
};

/// Of this machine; empty if it has none.
std::string host_name();

/// A collective call: all processes must make it.
ProcessFigures figures_of_processes(const train::Trainer& trainer);
/// Of this process, if there are no others.
ProcessFigures figures_of_this_process(const backend::Kernels& kernels);

/// summary.json: the last evaluation, the traffic (`bytes_by_peer`: sent by each over its edges,
/// `bytes_by_edge`: rows of sender, receiver and bytes if the graph changes), the time, the label
/// distribution (`class_counts`, a row per peer) or the scale of targets (`target_mean`,
/// `target_deviation`), the input of a network (`batch` and `input`,
/// "3x32x32"), the peers that lie (`liars`: means are without them), its `metrics` (metric_list.h),
/// its `warnings` (a list of `kind`, `what` and `try`: diagnosis.h), and the provenance: machine
/// (`host` of rank 0), seed, config, the SHA-256 of the models, version, and when it `ended` (UTC,
/// "2026-11-19T23:58:00Z"). Names are stable; fields that do not apply are omitted.
std::string summarize(const train::RunView& run, const train::RunOptions& config,
                      const train::Metrics& last, const ProcessFigures& processes,
                      const std::string& models_sha256, std::span<const Warning> warnings = {});

}  // namespace hearsay::run
