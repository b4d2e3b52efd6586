#include "hearsay/cost/measure.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hearsay/backend/cpu/int8/product.h"
#include "hearsay/backend/cpu/loops.h"
#include "hearsay/core/random.h"
#include "hearsay/core/text.h"
#include "hearsay/cost/cost.h"
#include "hearsay/engine/check_int8.h"
#include "hearsay/engine/cpu/program.h"
#include "hearsay/model/models.h"

namespace hearsay::cost {

namespace {

using backend::Precision;

constexpr double kMostBytes = 8e9;
constexpr double kSeconds = 0.5;
constexpr std::size_t kLeastSteps = 3, kMostSteps = 100;

/// Anonymous resident memory of this process: all but mapped files and shared memory (proc(5)).
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0, shared = 0;
  file >> total >> resident >> shared;
  return (resident - shared) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Calls `prepare` and `step` until kSeconds have passed in the latter; the median of its seconds.
template <class Prepare, class Step>
std::pair<double, std::size_t> time(const Clock& clock, const Prepare& prepare, const Step& step) {
  std::vector<double> seconds;
  double sum = 0;
  while (seconds.size() < kLeastSteps || (seconds.size() < kMostSteps && sum < kSeconds)) {
    prepare();
    const double before = clock();
    step();
    seconds.push_back(clock() - before);
    sum += seconds.back();
  }
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::ranges::nth_element(seconds, middle);
  return {*middle, seconds.size()};
}

void check_size(const model::Network& network, std::uint64_t batch) {
  const double bytes = cost_of(network, {.batch = batch}, "horowitz45").memory_bytes();
  if (bytes <= kMostBytes) return;
  throw InvalidArgument(fmt::format(
      "[cost] a batch of {} needs about {}, and at most {} are measured; take a smaller "
      "batch, or count without --measure",
      batch, human_bytes(bytes), human_bytes(kMostBytes)));
}

/// A peer's model and gradient, and its batch: random images and labels.
struct Peer {
  Peer(const model::Network& network, std::uint64_t batch, Precision precision)
      : program(engine::cpu::make_program(precision, network, batch, {})),
        parameters(network.layout().dim()),
        gradient(parameters.size()),
        buffers(network.buffers().dim()),
        noise(2 * network.shape(network.input()).size()),
        labels(batch),
        outputs(batch * network.outputs()) {
    network.initialize(1, parameters);
    network.initialize_buffers(buffers);
    Random random(1, Purpose::kProblem);
    for (float& value : noise) value = static_cast<float>(random.normal());
    const std::size_t classes = std::min<std::size_t>(network.outputs(), 1 << 16);
    for (std::uint16_t& label : labels) label = static_cast<std::uint16_t>(random.below(classes));
  }

  /// Image k is the noise from its entry k on, so that images differ and take no memory.
  void read_images() {
    const std::size_t features = noise.size() / 2;
    const std::span<float> images = program->images();
    for (std::size_t k = 0; k < labels.size(); ++k) {
      std::ranges::copy(std::span(noise).subspan(k % features, features),
                        images.begin() + static_cast<std::ptrdiff_t>(k * features));
    }
  }
  void step() { program->gradient(parameters, buffers, {.labels = labels}, {}, gradient); }
  void evaluate() { program->outputs(parameters, buffers, outputs); }

  std::unique_ptr<engine::cpu::Program> program;
  std::vector<float> parameters, gradient, buffers, noise;
  std::vector<std::uint16_t> labels;
  std::vector<float> outputs;
};

/// Why 8 bits cannot train the network; empty if they can.
std::string refusal_of_int8(const model::Network& network) {
  try {
    engine::check_int8(network);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

std::string milliseconds(double seconds) { return fmt::format("{:.3g} ms", 1000 * seconds); }

std::string instruction_sets(bool int8) {
  std::string floats = backend::cpu::instruction_set();
  if (!int8) return floats;
  return fmt::format("{}, bytes: {}", floats, backend::cpu::byte_product_set());
}

}  // namespace

Measured measure(const model::Network& network, std::uint64_t batch, Precision precision,
                 const Clock& clock) {
  if (precision != Precision::kFp32 && precision != Precision::kInt8) {
    throw InvalidArgument(fmt::format("[cost] {} is of GPUs only; fp32 and int8 are measured here",
                                      backend::name_of(precision)));
  }
  check_size(network, batch);
  malloc_trim(0);  // what was freed before would be used again, and not counted
  const double before = resident_bytes();
  Peer peer(network, batch, precision);
  const auto read = [&] { peer.read_images(); };
  read();
  peer.step();
  read();
  peer.evaluate();
  Measured measured{.arena_bytes = static_cast<double>(peer.program->arena_bytes()),
                    .resident_bytes = resident_bytes() - before};
  std::tie(measured.step_seconds, measured.steps) = time(clock, read, [&] { peer.step(); });
  measured.evaluation_seconds = time(clock, read, [&] { peer.evaluate(); }).first;
  return measured;
}

std::string measured_table(const CostRequest& request, const Clock& clock) {
  const model::Network network =
      model::make_model(request.model, model::parse_shape(request.input), request.classes);
  struct Column {
    Cost counted;  ///< of model, gradient and activations
    Measured measured;
  };
  const auto column = [&](Precision precision) {
    const Task task{.batch = request.batch, .arrays = 2, .precision = precision};
    return Column{cost_of(network, task, request.energy),
                  measure(network, request.batch, precision, clock)};
  };
  const std::string refusal = refusal_of_int8(network);
  std::vector<Column> columns{column(Precision::kFp32)};
  if (refusal.empty()) columns.push_back(column(Precision::kInt8));

  std::vector<std::vector<std::string>> rows{{"gradient of one peer", "fp32"}};
  if (columns.size() > 1) rows[0].insert(rows[0].end(), {"int8", "fp32 / int8"});
  const auto row = [&](const char* name, std::string (*text)(double), auto&& value) {
    rows.push_back({name});
    for (const Column& c : columns) rows.back().push_back(text(value(c)));
    if (columns.size() > 1) rows.back().push_back(times_less(value(columns[0]), value(columns[1])));
  };
  row("activations, counted", human_bytes,
      [](const Column& c) { return c.counted.activation_bytes; });
  row("arena, measured", human_bytes, [](const Column& c) { return c.measured.arena_bytes; });
  row("with model and gradient, counted", human_bytes,
      [](const Column& c) { return c.counted.memory_bytes(); });
  row("resident, measured", human_bytes, [](const Column& c) { return c.measured.resident_bytes; });
  row("multiply-adds weighted by bits, counted", human_count,
      [](const Column& c) { return c.counted.weighted_training_multiply_adds(); });
  row("training step, measured", milliseconds,
      [](const Column& c) { return c.measured.step_seconds; });
  row("evaluation, measured", milliseconds,
      [](const Column& c) { return c.measured.evaluation_seconds; });
  return fmt::format("measured on this processor ({}), one thread, {} samples\n\n{}{}",
                     instruction_sets(refusal.empty()), request.batch, format_table(rows),
                     refusal.empty() ? "" : fmt::format("\nint8 is not measured: {}\n", refusal));
}

}  // namespace hearsay::cost
