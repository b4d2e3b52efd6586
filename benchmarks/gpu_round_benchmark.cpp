/// Cost of whole rounds: batches, augmentation, gradients, momentum, top-1 % Sparse-Push, ledger.
///
///     gpu_round_benchmark [--device cuda|cpu] [--rows resnet20/4/] [--rounds 20] [--json FILE]
///
/// A row of the table is a bank of peers that trains on synthetic images of CIFAR-10's size,
/// compared with a second bank:
///
///   one run         the same without compression and mixing (`silent`). Printed is
///                   100 (t - t_silent) / t, the share of a round that they cost.
///   several runs    one such run alone. Printed is runs t_alone / t, how much more is done in the
///                   same time by one bank of runs x peers (run/fleet.h).
///
/// Both exist at once and are timed alternately, so that changes of the GPU clock affect both. A
/// sample is the time of `--rounds` rounds, from an idle device until it is drained; results are
/// quantiles over samples of the time per round. A training run drains less often (Kernels::lag)
/// and is that much faster.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "hearsay/core/error.h"
#include "hearsay/gossip/machine.h"
#include "hearsay/train/run_options.h"
#include "hearsay/train/trainer.h"

namespace {

namespace engine = hearsay::engine;
namespace gossip = hearsay::gossip;
namespace train = hearsay::train;
using hearsay::InvalidArgument;
using hearsay::RunFailed;

constexpr std::size_t kBatch = 32;
/// 61 MB of training images: more than a GPU's cache holds.
constexpr const char* kData = "synthetic:shape=3x32x32,classes=10,samples=20000";
constexpr const char* kAlgorithm = "sparse-push";
constexpr const char* kCompressor = "topk:keep=0.01";

struct Row {
  const char* model;
  std::size_t peers;  ///< per run
  const char* precision;
  std::size_t runs = 1;

  std::string name() const {
    const std::string several = runs > 1 ? fmt::format("/{}runs", runs) : "";
    return fmt::format("{}/{}/{}{}", model, peers, precision, several);
  }
  std::size_t images() const { return runs * peers * kBatch; }  ///< per round
};

constexpr Row kGpuRows[] = {
    {"resnet20", 1, "tf32"},
    {"resnet20", 1, "bf16"},
    {"resnet20", 4, "tf32"},
    {"resnet20", 4, "bf16"},
    {"resnet20", 4, "fp32"},
    {"resnet20", 16, "tf32"},
    {"resnet20", 16, "bf16"},
    {"resnet20", 64, "tf32"},
    {"resnet20", 64, "bf16"},
    {"resnet110", 4, "tf32"},
    {"resnet110", 4, "bf16"},
    {"vgg11", 4, "tf32"},
    {"vgg11", 4, "bf16"},
    {"resnet20", 4, "tf32", 8},
    {"resnet20", 4, "bf16", 8},
    // 8 bits, and the same networks with the norm that they are compared with in floats.
    {"resnet20:norm=range-evonorm", 1, "int8"},
    {"resnet20:norm=range-evonorm", 4, "int8"},
    {"resnet20:norm=range-evonorm", 16, "int8"},
    {"resnet20:norm=range-evonorm", 64, "int8"},
    {"resnet110:norm=range-evonorm", 4, "int8"},
    {"vgg11:norm=range-evonorm", 4, "int8"},
    {"resnet20:norm=evonorm", 4, "tf32"},
    {"resnet20:norm=evonorm", 16, "tf32"},
    {"resnet110:norm=evonorm", 4, "tf32"},
    {"vgg11:norm=evonorm", 4, "tf32"},
};
/// Small enough to run this program without a GPU.
constexpr Row kCpuRows[] = {{"logistic", 1, "fp32"},
                            {"logistic", 4, "fp32"},
                            {"logistic", 4, "fp32", 8},
                            {"cnn", 4, "fp32"}};

struct Options {
  std::string device = "cuda";
  std::string rows;
  std::size_t rounds = 20;
  std::size_t samples = 30;
  std::size_t warmup = 60;
  std::string json;
};

train::RunOptions config_for(const Row& row, const std::string& device,
                             const std::string& algorithm, std::size_t seed) {
  train::RunOptions config;
  config.device = device == "cpu" ? device : device + ":precision=" + row.precision;
  config.model = row.model;
  config.data = kData;
  config.augment = "crop-flip";
  config.partition = "iid";
  config.peers = row.peers;
  config.graph = row.peers == 4 ? "sparse-push:a" : "ring:directed";
  config.algorithm = algorithm;
  config.compressor = algorithm == kAlgorithm ? kCompressor : "identity";
  config.optimizer = "momentum:beta=0.9,weight_decay=1e-4";
  config.lr = "0.01";
  config.batch = kBatch;
  config.rounds = 1000000;  // more than are run
  config.seed = seed;
  return resolve(config);
}

/// The runs of one row, on their own gossip::Machine.
class World {
 public:
  World(const Row& row, const std::string& device, const std::string& algorithm)
      : machine_(
            std::make_shared<gossip::Machine>(config_for(row, device, algorithm, 1).device, 0)) {
    for (std::size_t k = 0; k < row.runs; ++k) {
      const train::RunOptions config = config_for(row, device, algorithm, k + 1);
      runs_.push_back(std::make_unique<train::Trainer>(config, machine_));
    }
  }

  void rounds(std::size_t count) {
    for (std::size_t t = 0; t < count; ++t) {
      std::vector<train::Trainer::Turn> turns;
      for (const auto& run : runs_) turns.push_back({run.get()});
      train::Trainer::run_round(turns);
    }
    for (const auto& run : runs_) run->drain();
  }

  /// The mean over `count` rounds.
  double microseconds_a_round(std::size_t count) {
    const auto begin = std::chrono::steady_clock::now();
    rounds(count);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    return took.count() / static_cast<double>(count);
  }

  const train::Trainer& run() const { return *runs_.front(); }

 private:
  std::shared_ptr<gossip::Machine> machine_;  ///< shared with the runs
  std::vector<std::unique_ptr<train::Trainer>> runs_;
};

/// Microseconds per round.
struct Times {
  double median, p10, p90;
};

Times quantiles(std::vector<double> samples) {
  std::ranges::sort(samples);
  const auto at = [&](double q) {
    return samples[static_cast<std::size_t>(
        std::lround(q * static_cast<double>(samples.size() - 1)))];
  };
  return {.median = at(0.5), .p10 = at(0.1), .p90 = at(0.9)};
}

nlohmann::ordered_json measure(const Row& row, const Options& options) {
  World world(row, options.device, kAlgorithm);
  Row alone = row;
  alone.runs = 1;
  World other(alone, options.device, row.runs > 1 ? kAlgorithm : "silent");
  world.rounds(options.warmup);
  other.rounds(options.warmup);

  std::vector<double> samples, others;
  for (std::size_t k = 0; k < options.samples; ++k) {
    samples.push_back(world.microseconds_a_round(options.rounds));
    others.push_back(other.microseconds_a_round(options.rounds));
  }
  const Times times = quantiles(std::move(samples));
  const Times against = quantiles(std::move(others));

  nlohmann::ordered_json results = {
      {"row", row.name()},
      {"model", row.model},
      {"parameters", world.run().layout().dim()},
      {"peers", row.peers},
      {"runs", row.runs},
      {"batch", kBatch},
      {"precision", row.precision},
      {"algorithm", kAlgorithm},
      {"compressor", kCompressor},
      {"median_us", times.median},
      {"p10_us", times.p10},
      {"p90_us", times.p90},
      {"images_per_second", static_cast<double>(row.images()) / times.median * 1e6},
      {row.runs > 1 ? "alone_median_us" : "silent_median_us", against.median},
      {row.runs > 1 ? "alone_p10_us" : "silent_p10_us", against.p10},
      {row.runs > 1 ? "alone_p90_us" : "silent_p90_us", against.p90},
      {"samples", options.samples},
      {"rounds_a_sample", options.rounds},
  };
  if (row.runs > 1) {
    results["throughput_ratio"] = static_cast<double>(row.runs) * against.median / times.median;
  } else {
    results["algorithm_percent"] = 100 * (times.median - against.median) / times.median;
  }
  return results;
}

void print(const nlohmann::ordered_json& results) {
  const auto number = [&](const char* key) { return results.at(key).get<double>(); };
  const bool several = results.contains("throughput_ratio");
  fmt::print("{:<34} {:>9.1f}  ({:>9.1f} .. {:>9.1f}) {:>11.0f}   {}\n",
             results.at("row").get<std::string>(), number("median_us"), number("p10_us"),
             number("p90_us"), number("images_per_second"),
             several ? fmt::format("alone {:.1f}: {:.2f} times the throughput",
                                   number("alone_median_us"), number("throughput_ratio"))
                     : fmt::format("silent {:.1f}: {:.1f} % compression and mixing",
                                   number("silent_median_us"), number("algorithm_percent")));
  std::fflush(stdout);
}

std::string device_name(const std::string& device) {
  if (device == "cpu") return "the CPU";
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, 0)) {
    throw InvalidArgument(fmt::format("[cuda] {}; --device cpu tries the program without",
                                      cudaGetErrorString(error)));
  }
  return properties.name;
}

void run(const Options& options) {
  const std::string device = device_name(options.device);
  fmt::print(
      "{}; batch {}, {} with {}; us per round, median (10 % .. 90 %) of {} samples of {} rounds,"
      " images/s\n",
      device, kBatch, kAlgorithm, kCompressor, options.samples, options.rounds);
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
    if (!json) throw InvalidArgument(fmt::format("[json] cannot write '{}'", options.json));
  }
  const std::span<const Row> table =
      options.device == "cpu" ? std::span<const Row>(kCpuRows) : kGpuRows;
  std::vector<std::string> names;
  bool any = false;
  std::size_t failed = 0;
  for (const Row& row : table) {
    names.push_back(row.name());
    if (names.back().find(options.rows) == std::string::npos) continue;
    any = true;
    try {
      nlohmann::ordered_json results = measure(row, options);
      results["device"] = device;
      print(results);
      if (json.is_open()) json << results.dump() << std::endl;
    } catch (const std::exception& error) {  // go on with the other rows
      fmt::print("{:<34} failed: {}\n", names.back(), error.what());
      ++failed;
    }
  }
  if (json.is_open() && !json) {
    throw RunFailed(fmt::format("[json] cannot write '{}'", options.json));
  }
  if (failed > 0) throw RunFailed(fmt::format("[rows] {} of them failed", failed));
  if (!any) {
    throw InvalidArgument(fmt::format("[rows] no row's name contains '{}'; there are {}",
                                      options.rows, fmt::join(names, ", ")));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Times whole rounds of simulated peers on a GPU");
  app.add_option("--device", options.device, "cuda, or cpu with small rows to try the program")
      ->check(CLI::IsMember({"cuda", "cpu"}));
  app.add_option("--rows", options.rows, "only rows whose name contains this");
  app.add_option("--rounds", options.rounds, "rounds per sample")->check(CLI::PositiveNumber);
  app.add_option("--samples", options.samples, "samples per row")->check(CLI::PositiveNumber);
  app.add_option("--warmup", options.warmup, "rounds before the first sample");
  app.add_option("--json", options.json, "write one JSON object per row to this file too");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_round_benchmark: {}\n", error.what());
    return 1;
  }
}
