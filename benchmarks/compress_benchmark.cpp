// Top-k with error feedback and packing, against memcpy and against std::nth_element, in one run.
//
//   memory += x;  q = C(memory);  memory -= q;  the message is appended to a buffer
//
// on the 9,488,266 floats of a VGG-11, keep 1 %, one thread. Every iteration also times the two
// references, so that the counters are ratios of medians of interleaved measurements: `memcpys`,
// the time over that of one memcpy of the vector (target: at most 6), and `speedup`, the time of
// the same work with std::nth_element over it (target: at least 5). `bytes_per_entry` includes the
// header.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <functional>

#include "hearsay/compress/code/message.h"
#include "hearsay/compress/compressor.h"

namespace hearsay::compress {
namespace {

Layout vgg11() {
  Layout layout;
  std::size_t in = 3;
  for (const std::size_t out : {64u, 128u, 256u, 256u, 512u, 512u, 512u, 512u}) {
    layout.add("conv.weight", {out, in, 3, 3});
    layout.add("conv.bias", {out});
    in = out;
  }
  layout.add("hidden.weight", {512, 512});
  layout.add("hidden.bias", {512});
  layout.add("output.weight", {10, 512});
  layout.add("output.bias", {10});
  return layout;
}

const Layout& layout() {
  static const Layout the_layout = vgg11();
  return the_layout;
}

/// The vectors added to the memory in even and in odd rounds.
const std::vector<float>& update(std::uint32_t round) {
  static const std::vector<std::vector<float>> both = [] {
    std::vector<std::vector<float>> made(2, std::vector<float>(layout().dim()));
    for (std::uint32_t which : {0u, 1u}) {
      Random random(which, Purpose::kTest);
      for (float& v : made[which]) v = static_cast<float>(random.normal());
    }
    return made;
  }();
  return both[round % 2];
}

void add(const std::vector<float>& x, std::vector<float>& memory) {
  for (std::size_t i = 0; i < x.size(); ++i) memory[i] += x[i];
}

/// One peer's error feedback with a compressor of the library.
struct Feedback {
  std::unique_ptr<Compressor> compressor;
  std::vector<float> memory = std::vector<float>(layout().dim());
  Decoded q{};
  Bytes wire{};

  void step(std::uint32_t round) {
    add(update(round), memory);
    wire.clear();
    append_header({.sender = 0, .round = round, .weight = 0.5f, .push_sum = 1}, wire);
    compressor->compress(memory, layout(), Random(0, Purpose::kRounding, 0, round), q, &wire);
    for (std::size_t i = 0; i < q.index.size(); ++i) memory[q.index[i]] -= q.value[i];
  }
};

/// The usual implementation: nth_element on a copy of the magnitudes finds the threshold, a second
/// pass takes the entries above it, and indices and values are sent as 4 bytes each.
struct NthElementFeedback {
  bool layer_wise = false;
  std::vector<float> memory = std::vector<float>(layout().dim());
  std::vector<float> magnitude = std::vector<float>(layout().dim());
  Bytes wire{};

  void step(std::uint32_t round) {
    add(update(round), memory);
    wire.clear();
    if (!layer_wise) return select(0, memory.size());
    for (const Segment& segment : layout().segments()) select(segment.offset, segment.size);
  }

  void select(std::size_t begin, std::size_t m) {
    const std::size_t k = std::max<std::size_t>(1, m / 100);
    for (std::size_t i = 0; i < m; ++i) magnitude[i] = std::abs(memory[begin + i]);
    std::nth_element(magnitude.begin(), magnitude.begin() + k - 1, magnitude.begin() + m,
                     std::greater<>());
    const float threshold = magnitude[k - 1];
    std::size_t taken = 0;
    for (std::size_t i = begin; i < begin + m && taken < k; ++i) {
      if (std::abs(memory[i]) < threshold) continue;
      append(wire, static_cast<std::uint32_t>(i));
      append(wire, memory[i]);
      memory[i] = 0;
      ++taken;
    }
  }
};

/// CPU time, so that other load on the machine matters less.
template <class Work>
double seconds(const Work& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

void error_feedback(benchmark::State& state, const char* spec) {
  Feedback ours{.compressor = make_compressor(spec)};
  NthElementFeedback reference{.layer_wise =
                                   std::string_view(spec).find("model") == std::string_view::npos};
  std::vector<float> copy(layout().dim());
  for (std::uint32_t round = 0; round < 3; ++round) {
    ours.step(round);
    reference.step(round);
  }
  std::vector<double> ours_s, memcpy_s, nth_element_s;
  std::uint32_t round = 3;
  for (auto _ : state) {
    memcpy_s.push_back(seconds([&] {
      std::memcpy(copy.data(), update(round).data(), sizeof(float) * copy.size());
      benchmark::ClobberMemory();
    }));
    ours_s.push_back(seconds([&] { ours.step(round); }));
    nth_element_s.push_back(seconds([&] { reference.step(round); }));
    state.SetIterationTime(ours_s.back());
    ++round;
  }
  state.counters["memcpys"] = median(ours_s) / median(memcpy_s);
  state.counters["speedup"] = median(nth_element_s) / median(ours_s);
  state.counters["memcpy_ms"] = 1e3 * median(memcpy_s);
  state.counters["nth_element_ms"] = 1e3 * median(nth_element_s);
  state.counters["bytes_per_entry"] =
      static_cast<double>(ours.wire.size()) / static_cast<double>(ours.q.index.size());
}
BENCHMARK_CAPTURE(error_feedback, model_f32, "topk:keep=0.01,scope=model,value=f32")
    ->UseManualTime()
    ->Iterations(25)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(error_feedback, model_f16, "topk:keep=0.01,scope=model,value=f16")
    ->UseManualTime()
    ->Iterations(25)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(error_feedback, layer_f32, "topk:keep=0.01,scope=layer,value=f32")
    ->UseManualTime()
    ->Iterations(25)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(error_feedback, layer_f16, "topk:keep=0.01,scope=layer,value=f16")
    ->UseManualTime()
    ->Iterations(25)
    ->Unit(benchmark::kMillisecond);

/// Encoding and decoding alone, in floats of the model per second.
void compress(benchmark::State& state, const char* spec) {
  const auto compressor = make_compressor(spec);
  Decoded q;
  Bytes wire;
  for (auto _ : state) {
    wire.clear();
    compressor->compress(update(0), layout(), Random(0, Purpose::kRounding), q, &wire);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(layout().dim()));
  state.counters["bytes"] = static_cast<double>(wire.size());
}

void decode(benchmark::State& state, const char* spec) {
  const auto compressor = make_compressor(spec);
  Decoded q;
  Bytes wire;
  compressor->compress(update(0), layout(), Random(0, Purpose::kRounding), q, &wire);
  for (auto _ : state) {
    ByteReader reader(wire, "benchmark");
    compressor->decode(reader, layout(), q);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(layout().dim()));
}

void register_all() {
  for (const Entry& entry : registry()) {
    const char* spec = entry.example.data();  // a literal
    benchmark::RegisterBenchmark(("compress/" + std::string(spec)).c_str(), compress, spec)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("decode/" + std::string(spec)).c_str(), decode, spec)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace hearsay::compress

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  hearsay::compress::register_all();
  benchmark::RunSpecifiedBenchmarks();
}
