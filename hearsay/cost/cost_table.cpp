#include "hearsay/cost/cost_table.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/compress/compressor.h"
#include "hearsay/core/text.h"
#include "hearsay/cost/cost.h"
#include "hearsay/graph/facts.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/model/models.h"

namespace hearsay::cost {

namespace {

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

}  // namespace

std::string cost_table(const CostRequest& request) {
  const model::Network network =
      model::make_model(request.model, model::parse_shape(request.input), request.classes);
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
  const Cost costs[] = {cost_of(network, alone, request.energy),
                        cost_of(network, together, request.energy)};

  std::vector<std::vector<std::string>> rows{
      {"per device and round", "alone", fmt::format("one of {}", schedule->peers())}};
  const auto row = [&](std::string name, auto&& text) {
    rows.push_back({std::move(name), text(costs[0]), text(costs[1])});
  };
  row("samples", [](const Cost& c) { return fmt::format("{}", c.batch); });
  row("memory", [](const Cost& c) { return human_bytes(c.memory_bytes()); });
  row("  model and its state", [](const Cost& c) { return human_bytes(c.model_bytes); });
  row("  activations", [](const Cost& c) { return human_bytes(c.activation_bytes); });
  row("multiply-adds, forward", [](const Cost& c) { return human_count(c.multiply_adds); });
  row("FLOPs, training", [](const Cost& c) { return human_count(c.training_flops()); });
  row("bytes sent", [](const Cost& c) { return human_bytes(c.sent_bytes); });
  row("energy", [](const Cost& c) { return human_joules(c.energy.total()); });
  row("  compute", [](const Cost& c) { return human_joules(c.energy.compute); });
  row("  memory", [](const Cost& c) { return human_joules(c.energy.memory); });
  row("  radio", [](const Cost& c) { return human_joules(c.energy.radio); });

  return fmt::format(
      "{}, {} images: {} parameters, {} arrays of them alone, {} together\n"
      "{} with {} and {} on {}\n\n{}\n"
      "energy is a model, not a measurement: {} (docs/energy.md)\n"
      "a global average (psgd, pga, ...) would be {} per peer, and is not in the bytes above\n",
      request.model, request.input, network.layout().dim(), alone.arrays, together.arrays,
      request.algorithm, compressor, request.optimizer, request.graph, format_table(rows),
      resolved_energy(request.energy),
      human_bytes(2 * (peers - 1) / peers * 4 * static_cast<double>(network.layout().dim())));
}

}  // namespace hearsay::cost
