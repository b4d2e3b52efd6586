#include "hearsay/algorithm/exchange.h"

#include <numeric>

namespace hearsay::algorithm {

void Outbox::send_all(backend::ConstBlock x) {
  Payload payload;
  payload.rows.reserve(x.rows);
  for (std::size_t i = 0; i < x.rows; ++i) payload.rows.push_back({x.row(i).data()});
  payload.fixed_bytes = 4 * x.dim;
  payload.paper_bytes = 4 * (x.dim + 1);
  payloads.push_back(std::move(payload));
}

void deliver(const graph::Weights& weights, const Outbox& outbox, std::span<const double> push_sum,
             const Delivered& delivered, Exchange& exchange) {
  const std::size_t n = weights.peers();
  exchange.begin.assign(1, 0);
  exchange.source.clear();
  exchange.weight.clear();
  exchange.debit.assign(n, 0.0);
  for (std::size_t receiver = 0; receiver < n; ++receiver) {
    for (const graph::Edge& edge : weights.into(receiver)) {
      if (delivered && !delivered(edge)) continue;
      const float amount = static_cast<float>(outbox.rate * edge.weight);
      exchange.source.push_back(edge.sender);
      exchange.weight.push_back(amount);
      exchange.debit[edge.sender] += static_cast<double>(amount);
    }
    exchange.begin.push_back(static_cast<std::uint32_t>(exchange.source.size()));
  }
  exchange.vectors.clear();
  for (const Payload& payload : outbox.payloads) exchange.vectors.push_back(payload.rows);
  exchange.push_sum.assign(push_sum.begin(), push_sum.end());
}

double LocalCollective::mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace hearsay::algorithm
