/// Cost of a network's training step: images per second, scaling over threads, memory
/// per peer, and the overhead of compression and mixing. Ratios within one run; see
/// docs/performance.md.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hearsay/backend/cpu/int8/product.h"
#include "hearsay/core/random.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/data/dataset.h"
#include "hearsay/engine/cpu/program.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/gossip/round_driver.h"
#include "hearsay/model/models.h"
#include "hearsay/train/run_options.h"
#include "hearsay/train/trainer.h"

namespace {

using namespace hearsay;

constexpr std::size_t kBatch = 32;
constexpr const char* kImages = "synthetic:shape=3x32x32,classes=10,samples=2000";

/// A bank of peers that train a model on synthetic images of CIFAR's size.
struct Peers {
  Peers(const std::string& model, std::size_t count, std::size_t threads,
        backend::Precision precision = backend::Precision::kFp32)
      : pool(threads),
        kernels(backend::make_cpu_kernels(pool, precision)),
        objective(engine::make_objective(kImages, {.peers = count,
                                                   .first = 0,
                                                   .rows = count,
                                                   .seed = 1,
                                                   .pool = pool,
                                                   .kernels = *kernels,
                                                   .model = model,
                                                   .augment = "crop-flip",
                                                   .batch = kBatch})),
        x(kernels->allocate(count, objective->layout().dim())),
        gradient(kernels->allocate(count, objective->layout().dim())),
        losses(count) {
    start(x);
    objective->gradients(round++, x, gradient, losses);  // the first call warms up
  }

  void start(backend::Block models) const {
    for (std::size_t i = 0; i < models.rows; ++i) {
      objective->initial_model(static_cast<std::uint32_t>(i), models.row(i));
    }
  }

  double seconds_of_a_round() {
    const auto begin = std::chrono::steady_clock::now();
    objective->gradients(round++, x, gradient, losses);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  ThreadPool pool;
  std::unique_ptr<backend::Kernels> kernels;
  std::unique_ptr<engine::Objective> objective;
  backend::Array x, gradient;
  std::vector<double> losses;
  std::uint32_t round = 0;
};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// One peer on one thread, batch gathering and augmentation included.
void step(benchmark::State& state, const std::string& model) {
  Peers peers(model, 1, 1);
  std::vector<double> seconds;
  for (auto _ : state) seconds.push_back(peers.seconds_of_a_round());
  state.counters["images/s"] = static_cast<double>(kBatch) / median(seconds);
}
BENCHMARK_CAPTURE(step, resnet20, "resnet20")->MinTime(5)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, resnet20_evonorm, "resnet20:norm=evonorm")
    ->MinTime(5)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, resnet20_range_evonorm, "resnet20:norm=range-evonorm")
    ->MinTime(5)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, resnet20_range_evonorm_sigmoid, "resnet20:norm=range-evonorm-sigmoid")
    ->MinTime(5)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, vgg11, "vgg11")->MinTime(5)->Unit(benchmark::kMillisecond);

constexpr const char* kFloats = "resnet20:norm=evonorm";
constexpr const char* kBytes = "resnet20:norm=range-evonorm";

/// A step in 8 bits against one in single precision with EvoNorm, alternating; in every instruction
/// set that this machine has, fastest first.
void int8_step(benchmark::State& state) {
  const std::string_view set =
      backend::cpu::byte_product_sets()[static_cast<std::size_t>(state.range(0))];
  if (!backend::cpu::has_byte_product_set(set)) {
    state.SkipWithError(fmt::format("this machine has no {}", set).c_str());
    return;
  }
  state.SetLabel(std::string(set));
  backend::cpu::use_byte_product_set(set);
  Peers floats(kFloats, 1, 1), bytes(kBytes, 1, 1, backend::Precision::kInt8);
  std::vector<double> in_floats, in_bytes;
  for (auto _ : state) {
    in_floats.push_back(floats.seconds_of_a_round());
    in_bytes.push_back(bytes.seconds_of_a_round());
  }
  backend::cpu::use_byte_product_set("");
  state.counters["fp32_ms"] = 1e3 * median(in_floats);
  state.counters["int8_ms"] = 1e3 * median(in_bytes);
  state.counters["speedup"] = median(in_floats) / median(in_bytes);
}
BENCHMARK(int8_step)->DenseRange(0, 2)->MinTime(5)->Unit(benchmark::kMillisecond);

/// The same for a forward pass in evaluation, and the memory of the programs.
void int8_evaluation(benchmark::State& state) {
  const auto batch = static_cast<std::size_t>(state.range(0));
  const auto float_net = model::make_model(kFloats, {3, 32, 32}, 10);
  const auto byte_net = model::make_model(kBytes, {3, 32, 32}, 10);
  const auto floats = engine::cpu::make_program(backend::Precision::kFp32, float_net, batch, {});
  const auto bytes = engine::cpu::make_program(backend::Precision::kInt8, byte_net, batch, {});
  const auto seconds = [&](const model::Network& net, engine::cpu::Program& program) {
    std::vector<float> x(net.layout().dim()), outputs(batch * net.outputs());
    net.initialize(1, x);
    Random random(1, Purpose::kTest);
    for (float& value : program.images()) value = static_cast<float>(random.normal());
    const auto begin = std::chrono::steady_clock::now();
    program.outputs(x, {}, outputs);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::vector<double> in_floats, in_bytes;
  for (auto _ : state) {
    in_floats.push_back(seconds(float_net, *floats));
    in_bytes.push_back(seconds(byte_net, *bytes));
  }
  const auto arena = [](const engine::cpu::Program& program) {
    return static_cast<double>(program.arena_bytes());
  };
  state.counters["speedup"] = median(in_floats) / median(in_bytes);
  state.counters["int8_MB"] = arena(*bytes) / 1e6;
  state.counters["arena_ratio"] = arena(*floats) / arena(*bytes);
}
BENCHMARK(int8_evaluation)->Arg(32)->Arg(8)->MinTime(2)->Unit(benchmark::kMillisecond);

/// Two peers on two threads against one peer on one thread, alternating.
void two_threads(benchmark::State& state) {
  Peers one("resnet20", 1, 1), two("resnet20", 2, 2);
  std::vector<double> alone, together;
  for (auto _ : state) {
    alone.push_back(one.seconds_of_a_round());
    together.push_back(two.seconds_of_a_round());
  }
  // A round of two waits for the slower one: on a shared machine the best rounds show the program
  // itself, the medians also the load of other users.
  state.counters["speedup_best"] = 2 * std::ranges::min(alone) / std::ranges::min(together);
  state.counters["speedup_median"] = 2 * median(alone) / median(together);
}
BENCHMARK(two_threads)->MinTime(8)->Unit(benchmark::kMillisecond);

/// One peer on several threads against one on one thread, alternating: the speedup.
void peer_on_threads(benchmark::State& state, const std::string& model,
                     backend::Precision precision) {
  Peers one(model, 1, 1, precision),
      several(model, 1, static_cast<std::size_t>(state.range(0)), precision);
  std::vector<double> alone, together;
  for (auto _ : state) {
    alone.push_back(one.seconds_of_a_round());
    together.push_back(several.seconds_of_a_round());
  }
  state.counters["ms_of_one_thread"] = 1e3 * std::ranges::min(alone);
  state.counters["speedup_best"] = std::ranges::min(alone) / std::ranges::min(together);
  state.counters["speedup_median"] = median(alone) / median(together);
}
BENCHMARK_CAPTURE(peer_on_threads, resnet20, "resnet20", backend::Precision::kFp32)
    ->RangeMultiplier(2)
    ->Range(2, 16)
    ->MinTime(5)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(peer_on_threads, resnet20_int8, kBytes, backend::Precision::kInt8)
    ->RangeMultiplier(2)
    ->Range(2, 16)
    ->MinTime(5)
    ->Unit(benchmark::kMillisecond);

/// Overhead of everything but the gradient (local step, compression, error feedback, mixing,
/// checks) in a round of four peers: sparse-push at top-1 % on the directed ring of the paper, one
/// thread.
void communication_share(benchmark::State& state) {
  Peers peers("resnet20", 4, 1);
  gossip::RoundDriver driver({.layout = peers.objective->layout(),
                              .schedule = graph::make_schedule("sparse-push:a", {4, 1}),
                              .method = algorithm::make_method("sparse-push"),
                              .compressor = compress::make_compressor("topk:keep=0.01"),
                              .initial_model = [&](std::uint32_t peer, std::span<float> x) {
                                peers.objective->initial_model(peer, x);
                              }});
  std::vector<double> gradient, communication;
  for (auto _ : state) {
    gossip::Turn turn{&driver, {.lr = 0.01f}};
    const auto begin = std::chrono::steady_clock::now();
    gossip::begin_round({&turn, 1});
    peers.objective->gradients(peers.round++, driver.models(), driver.gradient(), driver.losses());
    const auto middle = std::chrono::steady_clock::now();
    gossip::end_round({&turn, 1});
    const auto end = std::chrono::steady_clock::now();
    gradient.push_back(std::chrono::duration<double>(middle - begin).count());
    communication.push_back(std::chrono::duration<double>(end - middle).count());
  }
  const double part = median(communication);
  state.counters["share_percent"] = 100 * part / (part + median(gradient));
}
BENCHMARK(communication_share)->MinTime(8)->Unit(benchmark::kMillisecond);

/// The value in bytes of a line "NAME: 123 kB" of /proc/self/status.
double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return 1024 * std::stod(line.substr(name.size() + 1));
  }
  return 0;
}

/// What a process trains in `peak_memory`.
struct Trained {
  std::string model, precision = "fp32", data = kImages;
  std::size_t batch = kBatch, threads = 1;
};

/// A whole process that trains one peer with sparse-push, started by `peak_memory`: prints its peak
/// resident memory beyond the dataset.
int train_one_peer(const Trained& trained) {
  train::RunOptions config;
  config.peers = 1;
  config.graph = "complete";
  config.algorithm = "sparse-push";
  config.data = trained.data;
  config.model = trained.model;
  config.precision = trained.precision;
  config.batch = trained.batch;
  config.rounds = 10;
  config.threads = trained.threads;
  {
    train::Trainer trainer(resolve(config));
    for (int t = 0; t < 10; ++t) trainer.run_round(t == 9);
    trainer.evaluate();
  }
  const double peak = status_bytes("VmHWM");
  const auto images = data::make_dataset(trained.data);
  const auto dataset =
      static_cast<double>(images->train.inputs.size() + images->test.inputs.size());
  fmt::print("{}\n", peak - dataset);
  return 0;
}

void peak_memory(benchmark::State& state, const Trained& trained) {
  double bytes = 0;
  for (auto _ : state) {
    const std::string self =
        fmt::format("/proc/{}/exe --train-one-peer {} {} {} {} {}", getpid(), trained.model,
                    trained.precision, trained.data, trained.batch, trained.threads);
    FILE* child = popen(self.c_str(), "r");
    if (child == nullptr || fscanf(child, "%lf", &bytes) != 1) state.SkipWithError("no child");
    if (child != nullptr) pclose(child);
  }
  state.counters["MB"] = bytes / 1e6;
}
BENCHMARK_CAPTURE(peak_memory, resnet20, Trained{"resnet20"})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(peak_memory, resnet20_two_threads,
                  Trained{"resnet20", "fp32", kImages, kBatch, 2})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(peak_memory, resnet20_evonorm, Trained{kFloats})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(peak_memory, resnet20_int8, Trained{kBytes, "int8"})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(peak_memory, resnet20_int8_batch_8, Trained{kBytes, "int8", kImages, 8})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(peak_memory, resnet20_int8_batch_8_two_threads,
                  Trained{kBytes, "int8", kImages, 8, 2})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(peak_memory, cnn_digits, Trained{"cnn", "fp32", "digits"})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(peak_memory, cnn_digits_two_threads, Trained{"cnn", "fp32", "digits", kBatch, 2})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

}  // namespace

int main(int argc, char** argv) {
  if (argc == 7 && std::strcmp(argv[1], "--train-one-peer") == 0) {
    return train_one_peer({.model = argv[2],
                           .precision = argv[3],
                           .data = argv[4],
                           .batch = std::stoul(argv[5]),
                           .threads = std::stoul(argv[6])});
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
