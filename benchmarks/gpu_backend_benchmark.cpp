/// Cost of the communication half of a round on a GPU: Sparse-Push at top-1 % for the layouts of
/// ResNet-20 (4 and 64 peers) and VGG-11 (4 peers), per kernel and in total. A CUDA graph repeats
/// the same calls many times; times are per call, between CUDA events: median and spread over
/// replays.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/backend/cuda/context.h"
#include "hearsay/backend/device.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/graph/facts.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/model/models.h"

namespace {

using namespace hearsay;

struct Setting {
  const char* model;
  std::size_t peers;
  const char* graph;
  const char* compressor;
};

/// A gossiping bank with everything that `sparse-push` needs.
struct World {
  explicit World(const Setting& setting)
      : kernels(backend::make_kernels("cuda", pool)),
        layout(model::make_model(setting.model, {3, 32, 32}, 10).layout()),
        schedule(graph::make_schedule(setting.graph, {setting.peers, 1})),
        facts(graph::facts_of(*schedule)),
        compressor(compress::make_compressor(setting.compressor)),
        bank(compress::make_bank_compressor({.kernels = *kernels,
                                             .compressor = *compressor,
                                             .layout = layout,
                                             .pool = pool,
                                             .seed = 1})),
        method(algorithm::make_algorithm("sparse-push", {.kernels = *kernels,
                                                         .layout = layout,
                                                         .compressor = *bank,
                                                         .graph = facts,
                                                         .peers = setting.peers,
                                                         .rows = setting.peers})),
        x(kernels->allocate(setting.peers, layout.dim())),
        y(kernels->allocate(setting.peers, layout.dim())),
        u(setting.peers, 1.0) {
    std::vector<float> row(layout.dim());
    Random random(1, Purpose::kTest);
    for (std::size_t i = 0; i < setting.peers; ++i) {
      for (float& value : row) value = static_cast<float>(random.normal());
      kernels->upload(row, x, i);
      kernels->upload(row, method->initial(), i);
    }
    method->start();
    bank->compress(x, 0, payload);
    outbox.payloads.push_back(payload);
    algorithm::deliver(schedule->at(0, 0), 0, outbox, u, {}, nullptr, exchange);
    kernels->synchronize();
  }

  /// The calls that a RoundDriver makes in the second half of a round, without the optimizer, the
  /// ledger and their synchronization: they are recorded into one graph here.
  void round() {
    method->plan({.index = index++, .phase = 0, .lr = 0.01f, .last_phase = false});
    method->step(y);
    algorithm::Outbox sent;
    method->emit(sent);
    algorithm::Exchange arrived;
    algorithm::deliver(schedule->at(0, 0), 0, sent, method->push_sum(), {}, nullptr, arrived);
    method->mix(arrived);
  }

  ThreadPool pool{1};
  std::unique_ptr<backend::Kernels> kernels;
  Layout layout;
  std::unique_ptr<graph::Schedule> schedule;
  graph::Facts facts;
  std::unique_ptr<compress::Compressor> compressor;
  std::unique_ptr<compress::BankCompressor> bank;
  std::unique_ptr<algorithm::Algorithm> method;
  backend::Array x, y;
  std::vector<double> u;
  algorithm::Payload payload;
  algorithm::Outbox outbox;
  algorithm::Exchange exchange;
  std::uint32_t index = 0;
};

using Call = std::function<void(World&)>;

void measure(benchmark::State& state, const Setting& setting, const Call& call) {
  constexpr int kCallsInGraph = 50, kReplays = 50;
  World world(setting);
  backend::cuda::LaunchRecorder& recorder = backend::cuda::context_of(*world.kernels).recorder;
  cudaEvent_t begin, end;
  backend::cuda::check(cudaEventCreate(&begin), "creating an event");
  backend::cuda::check(cudaEventCreate(&end), "creating an event");
  std::vector<double> microseconds;
  for (auto _ : state) {
    for (int replay = 0; replay < kReplays; ++replay) {
      for (int k = 0; k < kCallsInGraph; ++k) {
        call(world);
        recorder.flush();  // otherwise consecutive formulas would be fused into one launch
      }
      // Recording is complete: only the copy of the staging buffer and the graph run between the
      // events.
      backend::cuda::check(cudaEventRecord(begin, recorder.stream()), "recording an event");
      world.kernels->submit();
      backend::cuda::check(cudaEventRecord(end, recorder.stream()), "recording an event");
      world.kernels->synchronize();
      float milliseconds = 0;
      backend::cuda::check(cudaEventElapsedTime(&milliseconds, begin, end), "reading the time");
      if (replay > 0)
        microseconds.push_back(1e3 * static_cast<double>(milliseconds) / kCallsInGraph);
    }
  }
  std::ranges::sort(microseconds);
  const auto quantile = [&](double q) {
    return microseconds[static_cast<std::size_t>(q * static_cast<double>(microseconds.size() - 1))];
  };
  state.counters["median_us"] = quantile(0.5);
  state.counters["p10_us"] = quantile(0.1);
  state.counters["p90_us"] = quantile(0.9);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

constexpr Setting kSettings[] = {
    {"resnet:depth=20", 4, "sparse-push:a", "topk:keep=0.01"},
    {"resnet:depth=20", 4, "sparse-push:a", "topk:keep=0.01,scope=model"},
    {"resnet:depth=20", 64, "ring", "topk:keep=0.01"},
    {"vgg11", 4, "sparse-push:a", "topk:keep=0.01"},
};

const std::pair<const char*, Call> kCalls[] = {
    {"feedback_axpy", [](World& w) { w.kernels->axpy(1.0f, w.x, w.y); }},
    {"check_norms",
     [](World& w) { w.kernels->squared_norms(w.x, w.kernels->results<double>(w.x.block().rows)); }},
    {"compress", [](World& w) { w.bank->compress(w.x, 0, w.payload); }},
    {"feedback_accumulate", [](World& w) { w.kernels->accumulate(-1.0f, w.payload.rows, w.y); }},
    {"mix", [](World& w) { w.kernels->mix(w.exchange.mixing(), w.exchange.vectors[0], w.y); }},
    {"debias", [](World& w) { w.kernels->divide_rows(w.x, w.u, w.y); }},
    {"whole_half", [](World& w) { w.round(); }},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Setting& setting : kSettings) {
    for (const auto& [name, call] : kCalls) {
      const std::string title = std::string(setting.model) + "/" + std::to_string(setting.peers) +
                                "/" + setting.compressor + "/" + name;
      const Call& body = call;
      benchmark::RegisterBenchmark(
          title.c_str(),
          [&setting, &body](benchmark::State& state) { measure(state, setting, body); })
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
