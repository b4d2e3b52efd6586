/// Cost of a simulated round: time relative to the floats it moves, and memory relative to the
/// arrays listed in docs/algorithms.md. Ratios within one run; see docs/performance.md.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>

#include <fmt/format.h>

#include "hearsay/train/run_options.h"
#include "hearsay/train/trainer.h"

namespace {

using hearsay::train::RunOptions;
using hearsay::train::Trainer;

RunOptions config_for(const std::string& algorithm, const std::string& graph, std::size_t peers,
                      std::size_t dim) {
  RunOptions config;
  config.algorithm = algorithm;
  config.graph = graph;
  config.peers = peers;
  config.data = fmt::format("consensus:dim={}", dim);
  config.threads = 1;
  config.rounds = 1000000;
  return resolve(config);
}

/// sgp over one-peer exponential: the same number of floats as many short rows and as few long
/// ones.
void sgp_round(benchmark::State& state) {
  const auto peers = static_cast<std::size_t>(state.range(0));
  const auto dim = static_cast<std::size_t>(state.range(1));
  Trainer trainer(config_for("sgp", "one-peer-exponential", peers, dim));
  static std::map<std::size_t, double> seconds_a_float;
  double seconds = 0;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    trainer.run_round(false);
    const double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    state.SetIterationTime(took);
    seconds += took;
  }
  const double floats = static_cast<double>(peers * dim);
  seconds_a_float[peers] = seconds / static_cast<double>(state.iterations()) / floats;
  state.counters["ns_a_float"] = 1e9 * seconds_a_float[peers];
  if (seconds_a_float.contains(64) && seconds_a_float.contains(1024)) {
    state.counters["1024_over_64"] = seconds_a_float[1024] / seconds_a_float[64];
  }
}
BENCHMARK(sgp_round)
    ->Args({64, 16'000})
    ->Args({1024, 1'000})
    ->UseManualTime()
    ->MinTime(2)
    ->Unit(benchmark::kMillisecond);

/// Peak resident memory of a process that runs a few rounds, above that of one with a tiny model.
std::size_t peak_rss(const std::string& algorithm, const std::string& graph, std::size_t peers,
                     std::size_t dim) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    {
      Trainer trainer(config_for(algorithm, graph, peers, dim));
      for (int t = 0; t < 4; ++t) trainer.run_round(false);
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto bytes = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
    const bool written = write(pipe_ends[1], &bytes, sizeof bytes) == sizeof bytes;
    _exit(written ? 0 : 1);
  }
  std::size_t bytes = 0;
  close(pipe_ends[1]);
  if (read(pipe_ends[0], &bytes, sizeof bytes) != sizeof bytes) bytes = 0;
  close(pipe_ends[0]);
  waitpid(child, nullptr, 0);
  return bytes;
}

/// `arrays`: x, the gradient, and those listed in docs/algorithms.md, each d floats per peer.
void memory(benchmark::State& state, const std::string& algorithm, const std::string& graph,
            std::size_t arrays) {
  constexpr std::size_t kPeers = 8, kDim = 2'000'000;
  double ratio = 0;
  for (auto _ : state) {
    const std::size_t base = peak_rss(algorithm, graph, kPeers, 16);
    const std::size_t full = peak_rss(algorithm, graph, kPeers, kDim);
    ratio = static_cast<double>(full - base) / static_cast<double>(4 * kPeers * kDim * arrays);
  }
  state.counters["over_state_arrays"] = ratio;
}
BENCHMARK_CAPTURE(memory, dsgd, "dsgd", "ring", 2)->Iterations(1);
BENCHMARK_CAPTURE(memory, sgp, "sgp", "ring:directed", 2)->Iterations(1);
BENCHMARK_CAPTURE(memory, sgp_irregular, "sgp", "random:p=0.4", 3)->Iterations(1);
BENCHMARK_CAPTURE(memory, sparse_push, "sparse-push", "ring:directed", 3)->Iterations(1);
BENCHMARK_CAPTURE(memory, sparse_push_irregular, "sparse-push", "random:p=0.4", 4)->Iterations(1);
BENCHMARK_CAPTURE(memory, choco, "choco", "ring", 3)->Iterations(1);
BENCHMARK_CAPTURE(memory, exact_diffusion, "exact-diffusion", "ring", 4)->Iterations(1);
BENCHMARK_CAPTURE(memory, gradient_tracking, "gradient-tracking", "ring", 4)->Iterations(1);
BENCHMARK_CAPTURE(memory, dmsgd, "dmsgd", "ring", 3)->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
