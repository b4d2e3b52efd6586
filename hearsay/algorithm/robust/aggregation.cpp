#include "hearsay/algorithm/robust/aggregation.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/algorithm/robust/rules.h"
#include "hearsay/core/error.h"

namespace hearsay::algorithm {

namespace {

constexpr Parameter kClip[] = {
    {"tau", "auto", "auto|(0, inf)",
     "distance from the own model beyond which another is pulled in; auto: by those heard"},
    {"delta", "0.34", "(0, 0.5)",
     "share of those heard, itself counted, that may lie; at least one"}};
constexpr Parameter kTrim[] = {
    {"cut", "1", "[1, 1000000]", "largest and smallest values left out, so many of each"}};

std::unique_ptr<Aggregation> make_none(const Arguments& /*arguments*/,
                                       const AggregationContext& /*context*/) {
  return nullptr;
}

std::size_t none(const Arguments& /*arguments*/) { return 0; }

std::size_t two_if_auto(const Arguments& arguments) {
  return arguments.text("tau") == "auto" ? 2 : 0;
}

std::size_t more_than_are_cut(const Arguments& arguments) {
  return 2 * static_cast<std::size_t>(arguments.integer_in_range("cut")) + 1;
}

constexpr AggregationEntry kAggregations[] = {
    {{"none", "none", "everybody is believed", {}, make_none}, true, false, none},
    {{"clip", "clip:tau=auto", "self-centred clipping; with push-sum it has no theorem", kClip,
      make_clip},
     true,
     false,
     two_if_auto},
    {{"trimmed-mean", "trimmed-mean:cut=1", "mean of what is left of each coordinate; symmetric W",
      kTrim, make_trimmed_mean},
     false,
     true,
     more_than_are_cut},
};

/// Methods of the registry whose messages are models, without push-sum or all.
std::string methods_of_models(bool with_push_sum) {
  std::vector<std::string_view> names;
  for (const Entry& entry : registry()) {
    const bool push_sum = entry.needs.graph == Needs::Graph::kColumnStochastic;
    if (entry.needs.sends_model && (with_push_sum || !push_sum)) names.push_back(entry.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The fewest that a peer hears from: in a round, or of asynchronous peers in a period.
std::size_t fewest_senders(const graph::Schedule& schedule, bool asynchronous) {
  std::size_t fewest = schedule.peers();
  std::vector<std::set<std::uint32_t>> heard(schedule.peers());
  for (const graph::Weights& weights : schedule.period()) {
    for (std::size_t i = 0; i < heard.size(); ++i) {
      if (!asynchronous) fewest = std::min(fewest, weights.into(i).size());
      for (const graph::Edge& edge : weights.into(i)) heard[i].insert(edge.sender);
    }
  }
  if (!asynchronous) return fewest;
  for (const auto& senders : heard) fewest = std::min(fewest, senders.size());
  return fewest;
}

}  // namespace

Registry<AggregationEntry> aggregation_registry() { return {"robust rule", kAggregations}; }

std::unique_ptr<Aggregation> make_aggregation(std::string_view spec,
                                              const AggregationContext& context) {
  return aggregation_registry().make(spec, context);
}

void require_models(std::string_view who, const Method& method) {
  if (!method.needs || method.needs->sends_model) return;
  throw InvalidArgument(
      fmt::format("[{}] is for messages that are models, and {} sends something else or averages "
                  "globally; use one of {}",
                  who, method.name, methods_of_models(true)));
}

void check_aggregation(std::string_view spec, const AggregationSurroundings& s) {
  const AggregationEntry& entry = aggregation_registry().find(spec);
  const Arguments arguments(spec, entry.parameters);
  if (entry.name == "none") return;
  require_models(entry.name, s.method);
  const bool push_sum = s.method.needs && s.method.needs->graph == Needs::Graph::kColumnStochastic;
  if (push_sum && !entry.push_sum) {
    throw InvalidArgument(
        fmt::format("[{}] leaves no meaning to the push-sum weights of {}; use clip, or {}",
                    entry.name, s.method.name, methods_of_models(false)));
  }
  if (entry.symmetric && !s.graph.symmetric) {
    throw InvalidArgument(
        fmt::format("[{}] needs symmetric weights, and {} has none; use torus or complete, or clip",
                    entry.name, s.graph_spec));
  }
  if (!s.on_host) {
    throw InvalidArgument(fmt::format(
        "[{}] compares models on the cpu, and they are on another device; drop --device or "
        "--robust",
        entry.name));
  }
  const std::size_t least = entry.least_senders(arguments);
  const std::size_t fewest = least > 0 ? fewest_senders(s.schedule, s.asynchronous) : 0;
  if (fewest < least) {
    throw InvalidArgument(
        fmt::format("[{}] needs at least {} senders for every peer{}, and in {} one has {}; use {}",
                    spec, least, s.asynchronous ? "" : " and round", s.graph_spec, fewest,
                    entry.symmetric ? "complete or a torus, or a smaller cut"
                                    : "exponential or a torus, or give tau a number"));
  }
}

}  // namespace hearsay::algorithm
