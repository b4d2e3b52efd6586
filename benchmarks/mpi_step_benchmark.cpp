/// The share of a training step that a process spends waiting for others.
///
///     mpirun -n 4 mpi_step_benchmark [--model resnet20] [--batch 32] [--samples 20] [--json FILE]
///
/// One peer and one thread per process, synthetic images of CIFAR-10's size, one-peer exponential
/// graph. A row of the table is a method:
///
///   silent          no-communication baseline: the cost of a step alone
///   sgp             every peer sends its model after the step and waits for its neighbour's
///   sgp:overlap=1   sends before the gradient, receives after it
///   sparse-push     sgp with top-1 % and error feedback
///
/// A sample is a few rounds of one method, which all processes start together; methods alternate.
/// Prints the time per round (of the slowest process) and the share of it spent waiting, averaged
/// over processes.
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "benchmarks/processes.h"
#include "hearsay/gossip/machine.h"
#include "hearsay/train/run_options.h"
#include "hearsay/train/trainer.h"

namespace hearsay::benchmarks {
namespace {

struct Options {
  std::string model = "resnet20";
  std::size_t batch = 32;
  std::size_t rounds = 4;
  std::size_t samples = 20;
  std::size_t warmup = 2;
  std::string json;
};

struct Row {
  const char* algorithm;
  const char* compressor = "identity";
};
constexpr Row kRows[] = {{"silent"}, {"sgp"}, {"sgp:overlap=1"}, {"sparse-push", "topk:keep=0.01"}};

train::RunOptions config_for(const Row& row, const Options& options, std::size_t peers) {
  train::RunOptions config;
  config.model = options.model;
  config.data = "synthetic:shape=3x32x32,classes=10,samples=2000";
  config.augment = "crop-flip";
  config.partition = "iid";
  config.peers = peers;
  config.graph = "one-peer-exponential";
  config.algorithm = row.algorithm;
  config.compressor = row.compressor;
  config.lr = "0.001";
  config.batch = options.batch;
  config.rounds = 1000000;  // more than are run
  config.threads = 1;
  return resolve(config);
}

/// Seconds per round, and the share of them spent waiting; one entry per sample.
struct Samples {
  std::vector<double> seconds, share;
};

void measure(gossip::ProcessGroup& group, train::Trainer& run, const Options& options,
             Samples& samples) {
  const double waited_before = run.seconds_waited();
  const double seconds = seconds_of(group, [&] {
    for (std::size_t k = 0; k < options.rounds; ++k) run.run_round(false);
    run.drain();
  });
  const double share = (run.seconds_waited() - waited_before) / seconds;
  const std::vector<double> shares = of_all(group, share);
  samples.share.push_back(std::accumulate(shares.begin(), shares.end(), 0.0) /
                          static_cast<double>(shares.size()));
  samples.seconds.push_back(std::ranges::max(of_all(group, seconds)) /
                            static_cast<double>(options.rounds));
}

void report(const gossip::ProcessGroup& group, const Row& row, const Samples& samples,
            double silent, const Options& options, JsonLines& json) {
  const Quantiles seconds = quantiles(samples.seconds), share = quantiles(samples.share);
  fmt::print("{:<16} {:>8.1f} ({:>6.1f} .. {:>6.1f}) {:>8.3f} {:>9.2f} % ({:>5.2f} .. {:>5.2f})\n",
             row.algorithm, 1e3 * seconds.median, 1e3 * seconds.p10, 1e3 * seconds.p90,
             seconds.median / silent, 100 * share.median, 100 * share.p10, 100 * share.p90);
  std::fflush(stdout);
  json.write({{"row", row.algorithm},
              {"compressor", row.compressor},
              {"processes", group.processes()},
              {"model", options.model},
              {"batch", options.batch},
              {"round_ms", 1e3 * seconds.median},
              {"round_p10_ms", 1e3 * seconds.p10},
              {"round_p90_ms", 1e3 * seconds.p90},
              {"round_over_silent", seconds.median / silent},
              {"waited_share", share.median},
              {"waited_p10_share", share.p10},
              {"waited_p90_share", share.p90},
              {"samples", options.samples},
              {"rounds_a_sample", options.rounds}});
}

void run(gossip::ProcessGroup& group, const Options& options) {
  JsonLines json(group, options.json);
  std::vector<std::unique_ptr<train::Trainer>> runs;
  for (const Row& row : kRows) {
    const train::RunOptions config = config_for(row, options, group.processes());
    runs.push_back(std::make_unique<train::Trainer>(
        config, std::make_shared<gossip::Machine>(config.device, config.threads, group)));
  }
  std::vector<Samples> samples(runs.size());
  for (std::size_t k = 0; k < options.warmup + options.samples; ++k) {
    for (std::size_t r = 0; r < runs.size(); ++r) {
      Samples warmup;
      measure(group, *runs[r], options, k < options.warmup ? warmup : samples[r]);
    }
  }
  if (!group.leads()) return;
  fmt::print(
      "{} processes, {:.3g} cores each; {}, {} floats, batch {}; ms per round, of silent, share of "
      "waiting: "
      "medians (10 % .. 90 %) of {} samples of {} rounds\n",
      group.processes(), group.cores(), options.model, runs[0]->layout().dim(), options.batch,
      options.samples, options.rounds);
  const double silent = quantiles(samples[0].seconds).median;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    report(group, kRows[r], samples[r], silent, options, json);
  }
}

}  // namespace
}  // namespace hearsay::benchmarks

int main(int argc, char** argv) {
  hearsay::benchmarks::Options options;
  CLI::App app("Times training steps and the waiting in them, in the processes of an mpirun");
  app.add_option("--model", options.model, "hearsay list models");
  app.add_option("--batch", options.batch, "samples per step")->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds, "rounds per sample")->check(CLI::PositiveNumber);
  app.add_option("--samples", options.samples, "samples per row")->check(CLI::PositiveNumber);
  app.add_option("--warmup", options.warmup, "samples per row that do not count");
  app.add_option("--json", options.json, "write one JSON object per row to this file too");
  CLI11_PARSE(app, argc, argv);
  return hearsay::benchmarks::in_processes(
      "mpi_step_benchmark",
      [&](hearsay::gossip::ProcessGroup& group) { hearsay::benchmarks::run(group, options); });
}
