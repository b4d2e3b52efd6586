#include "hearsay/algorithm/exchange.h"

#include <algorithm>
#include <numeric>

namespace hearsay::algorithm {

void Outbox::send_all(backend::ConstBlock x) {
  Payload payload;
  payload.rows.reserve(x.rows);
  for (std::size_t i = 0; i < x.rows; ++i) payload.rows.push_back({x.row(i).data()});
  payload.form = Payload::Form::kRaw;
  payload.fixed_bytes = 4 * x.dim;
  payload.paper_bytes = 4 * (x.dim + 1);
  payloads.push_back(std::move(payload));
}

void Outbox::send_codes(backend::Kernels& kernels, std::vector<Bytes> codes,
                        std::size_t paper_bytes) {
  const std::span<std::uint64_t> bytes = kernels.results<std::uint64_t>(codes.size());
  std::ranges::transform(codes, bytes.begin(), [](const Bytes& code) { return code.size(); });
  Payload& payload = payloads.emplace_back();
  payload.form = Payload::Form::kUndecoded;
  payload.bytes = bytes;
  payload.paper_bytes = paper_bytes;
  payload.codes = std::move(codes);
}

void deliver(const graph::Weights& weights, std::size_t first, const Outbox& outbox,
             std::span<const double> push_sum, const Remote& remote, const Delivered& delivered,
             Exchange& exchange) {
  const Payload& any = outbox.payloads.front();
  const std::size_t rows = std::max(any.rows.size(), any.codes.size());
  const auto amount_of = [&](const graph::Edge& edge) {
    return static_cast<float>(outbox.rate * edge.weight);
  };
  const auto arrives = [&](const graph::Edge& edge) { return !delivered || delivered(edge); };
  const auto is_own = [&](std::size_t peer) { return peer - first < rows; };
  exchange.begin.assign(1, 0);
  exchange.source.clear();
  exchange.weight.clear();
  auto foreign = remote.amounts.begin();
  for (std::size_t row = 0; row < rows; ++row) {
    for (const graph::Edge& edge : weights.into(first + row)) {
      if (!is_own(edge.sender)) {
        const float amount = *foreign++;
        if (!arrives(edge)) continue;
        const auto sender = std::ranges::lower_bound(remote.senders, edge.sender);
        const auto place = static_cast<std::size_t>(sender - remote.senders.begin());
        exchange.source.push_back(static_cast<std::uint32_t>(rows + place));
        exchange.weight.push_back(amount);
      } else if (arrives(edge)) {
        exchange.source.push_back(static_cast<std::uint32_t>(edge.sender - first));
        exchange.weight.push_back(amount_of(edge));
      }
    }
    exchange.begin.push_back(static_cast<std::uint32_t>(exchange.source.size()));
  }
  exchange.debit.assign(rows, 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    for (const graph::Edge& edge : weights.out_of(first + row)) {
      if (arrives(edge)) exchange.debit[row] += static_cast<double>(amount_of(edge));
    }
  }
  exchange.vectors.clear();
  exchange.codes.clear();
  for (std::size_t p = 0; p < outbox.payloads.size(); ++p) {
    const Payload& payload = outbox.payloads[p];
    auto& vectors = exchange.vectors.emplace_back(payload.rows);
    auto& codes = exchange.codes.emplace_back();
    if (payload.form == Payload::Form::kUndecoded) {
      codes.assign(payload.codes.begin(), payload.codes.end());
    }
    if (remote.senders.empty()) continue;
    if (payload.form == Payload::Form::kUndecoded) {
      codes.insert(codes.end(), remote.codes[p].begin(), remote.codes[p].end());
    } else {
      vectors.insert(vectors.end(), remote.vectors[p].begin(), remote.vectors[p].end());
    }
  }
  exchange.sender.resize(rows);
  std::iota(exchange.sender.begin(), exchange.sender.end(), static_cast<std::uint32_t>(first));
  exchange.sender.insert(exchange.sender.end(), remote.senders.begin(), remote.senders.end());
  exchange.push_sum.assign(push_sum.begin(), push_sum.end());
  if (!push_sum.empty()) {
    exchange.push_sum.insert(exchange.push_sum.end(), remote.push_sum.begin(),
                             remote.push_sum.end());
  }
}

}  // namespace hearsay::algorithm
