#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/algorithm/exchange.h"
#include "hearsay/core/registry.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/graph/facts.h"
#include "hearsay/graph/schedule.h"

namespace hearsay::algorithm {

/// A rule by which receivers protect themselves from senders that lie: a stage between what arrived
/// and Algorithm::mix, which it leaves as it is.
///
///   aggregation.rewrite(exchange);   algorithm.mix(exchange);
///
/// A receiver trusts its own model and nothing that it was told: neither vectors, nor amounts, nor
/// push-sum weights. The sum over peers is not conserved: what a message loses nobody gains.
class Aggregation {
 public:
  virtual ~Aggregation() = default;

  /// Replaces what arrived by what is to be mixed. Vectors are dense and in the host's memory;
  /// those that it adds are valid until the next call.
  virtual void rewrite(Exchange& exchange) = 0;
};

/// What a rule is made from.
struct AggregationContext {
  ThreadPool& pool;
  std::size_t dim = 0;        ///< floats of a model
  bool asynchronous = false;  ///< what arrives together is any number of messages of any senders
};

/// One row of the registry: what `--robust` takes.
struct AggregationEntry : Row<std::unique_ptr<Aggregation>(const AggregationContext&)> {
  bool push_sum = false;   ///< goes with methods whose models are x/u
  bool symmetric = false;  ///< only on symmetric weights
  /// Peers that each must hear from, in every round or, asynchronous, in a period.
  std::size_t (*least_senders)(const Arguments&);
};

Registry<AggregationEntry> aggregation_registry();

/// make_aggregation("clip:tau=auto", context); null for "none". Throws InvalidArgument.
std::unique_ptr<Aggregation> make_aggregation(std::string_view spec,
                                              const AggregationContext& context);

/// What a rule is combined with in a run.
struct AggregationSurroundings {
  const Method& method;
  std::string_view graph_spec;
  const graph::Facts& graph;
  const graph::Schedule& schedule;  ///< of all peers
  bool asynchronous = false;
  bool on_host = true;  ///< where the models are
};

/// Throws InvalidArgument if the rule of that spec cannot work in these surroundings; the message
/// says which would do.
void check_aggregation(std::string_view spec, const AggregationSurroundings& surroundings);

/// Throws InvalidArgument, in the name of `who`, if what the method sends is not its model alone
/// and uncompressed. A method without stated needs passes.
void require_models(std::string_view who, const Method& method);

}  // namespace hearsay::algorithm
