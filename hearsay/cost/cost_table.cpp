#include "hearsay/cost/cost_table.h"

#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/compress/compressor.h"
#include "hearsay/core/text.h"
#include "hearsay/cost/cost.h"
#include "hearsay/engine/check_int8.h"
#include "hearsay/graph/facts.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/model/models.h"

namespace hearsay::cost {

namespace {

using backend::Precision;

constexpr std::size_t kMostParameters = 1'000'000'000;

std::string compressor_of(const CostRequest& request) {
  using Compression = algorithm::Needs::Compression;
  if (!request.compressor.empty()) return request.compressor;
  const algorithm::Entry& entry = algorithm::registry().find(request.algorithm);
  switch (entry.needs.compression) {
    case Compression::kRefused:
      return "identity";
    case Compression::kContractive:
      return "topk:keep=0.01";
    case Compression::kMild:
      return "qsgd:bits=8,unbiased=1";
  }
  return "identity";
}

graph::Facts check(const CostRequest& request, const std::string& compressor,
                   const graph::Schedule& schedule, const model::Network& network) {
  if (network.layout().dim() > kMostParameters) {
    throw InvalidArgument(
        fmt::format("[cost] {} on {} images has {} parameters; at most {} are "
                    "counted: take smaller images or a smaller model",
                    request.model, request.input, network.layout().dim(), kMostParameters));
  }
  graph::Facts facts = graph::facts_of(schedule);
  algorithm::check_fit(request.algorithm, {.graph_spec = request.graph,
                                           .graph = facts,
                                           .change = schedule.change(),
                                           .compressor_spec = compressor,
                                           .compressor = *compress::make_compressor(compressor),
                                           .layout = network.layout()});
  return facts;
}

/// A row of the table, and in which precisions it differs from another row.
struct Line {
  enum class Shown { kAlways, kBesideFp32, kInt8 };
  const char* name;
  std::string (*text)(double);
  double (*value)(const Cost&);
  Shown shown = Shown::kAlways;
};

constexpr Line kLines[] = {
    {"samples", [](double count) { return fmt::format("{:.0f}", count); },
     [](const Cost& c) { return static_cast<double>(c.batch); }},
    {"memory", human_bytes, [](const Cost& c) { return c.memory_bytes(); }},
    {"  model and its state", human_bytes, [](const Cost& c) { return c.model_bytes; }},
    {"  codes of weights", human_bytes, [](const Cost& c) { return c.code_bytes; },
     Line::Shown::kInt8},
    {"  activations", human_bytes, [](const Cost& c) { return c.activation_bytes; }},
    {"multiply-adds, forward", human_count, [](const Cost& c) { return c.multiply_adds(); }},
    {"  weighted by bits", human_count, [](const Cost& c) { return c.weighted_multiply_adds(); },
     Line::Shown::kBesideFp32},
    {"multiply-adds, training", human_count,
     [](const Cost& c) { return c.training_multiply_adds(); }},
    {"  weighted by bits", human_count,
     [](const Cost& c) { return c.weighted_training_multiply_adds(); }, Line::Shown::kBesideFp32},
    {"bytes sent", human_bytes, [](const Cost& c) { return c.sent_bytes; }},
    {"energy", human_joules, [](const Cost& c) { return c.energy.total(); }},
    {"  compute", human_joules, [](const Cost& c) { return c.energy.compute; }},
    {"  memory", human_joules, [](const Cost& c) { return c.energy.memory; }},
    {"  radio", human_joules, [](const Cost& c) { return c.energy.radio; }},
};

/// The columns are devices; beside each in fp32 itself in the other precision, and the ratio.
struct Device {
  std::string name;
  Cost fp32;
  Cost other;
};

std::string table_of(std::span<const Device> devices, Precision precision) {
  const bool beside = precision != Precision::kFp32;
  const std::string_view name = backend::name_of(precision);
  std::vector<std::vector<std::string>> rows{{"per device and round"}};
  for (const Device& device : devices) {
    rows[0].push_back(device.name + (beside ? ", fp32" : ""));
    if (!beside) continue;
    rows[0].push_back(std::string(name));
    rows[0].push_back(fmt::format("fp32 / {}", name));
  }
  for (const Line& line : kLines) {
    if (line.shown == Line::Shown::kBesideFp32 && !beside) continue;
    if (line.shown == Line::Shown::kInt8 && precision != Precision::kInt8) continue;
    rows.push_back({line.name});
    for (const Device& device : devices) {
      const double fp32 = line.value(device.fp32), other = line.value(device.other);
      rows.back().push_back(line.text(fp32));
      if (!beside) continue;
      rows.back().push_back(line.text(other));
      rows.back().push_back(times_less(fp32, other));
    }
  }
  return format_table(rows);
}

std::string_view note_on(Precision precision) {
  if (precision != Precision::kInt8) return "";
  return "int8: the model, its gradient and state stay in 32 bits; the gradient of a weight is two "
         "products\n      of bytes; a message is what the compressor makes of it, in either\n";
}

}  // namespace

std::string times_less(double fp32, double other) {
  return fp32 > 0 && other > 0 && fp32 != other ? fmt::format("{:.2f}x", fp32 / other) : "";
}

std::string cost_table(const CostRequest& request) {
  const Precision precision = parse_precision(request.precision);
  const model::Network network =
      model::make_model(request.model, model::parse_shape(request.input), request.classes);
  if (precision == Precision::kInt8) engine::check_int8(network);
  const auto schedule = graph::make_schedule(request.graph, {request.peers, 1});
  const double peers = static_cast<double>(schedule->peers());
  const std::string compressor = compressor_of(request);
  const double degree = check(request, compressor, *schedule, network).messages_per_round / peers;
  const double sent = degree * message_bytes(request.algorithm, compressor, network.layout());
  const std::size_t heard = static_cast<std::size_t>(std::llround(degree));

  const Task alone{.batch = request.batch * schedule->peers(),
                   .arrays = arrays_of("silent", request.optimizer, 0)};
  const Task together{.batch = request.batch,
                      .arrays = arrays_of(request.algorithm, request.optimizer, heard),
                      .sent_bytes = sent,
                      .received_bytes = sent};
  const auto device = [&](std::string name, Task task) {
    const Cost fp32 = cost_of(network, task, request.energy);
    task.precision = precision;
    return Device{std::move(name), fp32, cost_of(network, task, request.energy)};
  };
  const Device devices[] = {device("alone", alone),
                            device(fmt::format("one of {}", schedule->peers()), together)};

  return fmt::format(
      "{}, {} images: {} parameters, {} arrays of them alone, {} together\n"
      "{} with {} and {} on {}\n\n{}\n"
      "{}energy is a model, not a measurement: {} (docs/energy.md)\n"
      "a global average (psgd, pga, ...) would be {} per peer, and is not in the bytes above\n",
      request.model, request.input, network.layout().dim(), alone.arrays, together.arrays,
      request.algorithm, compressor, request.optimizer, request.graph, table_of(devices, precision),
      note_on(precision), resolved_energy(request.energy),
      human_bytes(2 * (peers - 1) / peers * 4 * static_cast<double>(network.layout().dim())));
}

}  // namespace hearsay::cost
