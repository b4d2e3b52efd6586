#include "hearsay/algorithm/local_peers.h"

#include <cmath>
#include <vector>

#include "hearsay/compress/code/message.h"

namespace hearsay::algorithm {

LocalPeers::LocalPeers(const Options& options)
    : layout_(options.dim),
      kernels_(backend::make_cpu_kernels(pool_)),
      schedule_(graph::make_schedule(options.graph, {options.peers, options.seed})),
      facts_(graph::facts_of(*schedule_)),
      compressor_(compress::make_compressor(options.compressor)),
      bank_compressor_(*compressor_, layout_, *kernels_, pool_, options.seed, 0),
      topk_keep_(compress::topk_keep(options.compressor)),
      direction_(kernels_->allocate(schedule_->peers(), options.dim)) {}

Bank LocalPeers::bank() {
  return {.kernels = *kernels_,
          .layout = layout_,
          .compressor = bank_compressor_,
          .topk_keep = topk_keep_,
          .graph = facts_,
          .peers = peers(),
          .rows = peers()};
}

void LocalPeers::run_round(Algorithm& method, float lr, const Direction& direction) {
  // An epoch is one round, as for objectives whose gradients use all the data.
  const Plan plan =
      method.plan({.index = round_, .phase = schedule_->phase(round_, round_), .lr = lr});
  const bool gossips = plan.talk == Plan::Talk::kGossip;
  Outbox outbox;
  if (gossips && plan.send_first) method.emit(outbox);
  if (plan.gradient) {
    kernels_->fill(0.0f, direction_);
    for (std::size_t i = 0; direction && i < peers(); ++i) {
      direction(i, method.point().row(i), direction_.row(i));
    }
    method.step(direction_);
  }
  if (gossips) {
    if (!plan.send_first) method.emit(outbox);
    gossip(method, outbox);
  } else if (plan.talk == Plan::Talk::kGlobal) {
    LocalCollective everybody(*kernels_);
    method.average(everybody, std::vector<double>(peers(), 0.0));
    bytes_ += 2 * (peers() - 1) * 4 * layout_.dim();
  }
  ++round_;
}

void LocalPeers::gossip(Algorithm& method, const Outbox& outbox) {
  const graph::Weights& weights = schedule_->at(round_, round_);
  kernels_->synchronize();  // lengths are valid from here
  for (const Payload& payload : outbox.payloads) {
    for (std::size_t i = 0; i < peers(); ++i) {
      bytes_ += weights.out_of(i).size() * (compress::kHeaderBytes + payload.length(i));
    }
  }
  Exchange exchange;
  deliver(weights, outbox, method.push_sum(), nullptr, exchange);
  method.mix(exchange);
}

double disagreement(backend::ConstBlock models) {
  const double peers = static_cast<double>(models.rows);
  double square = 0;
  for (std::size_t k = 0; k < models.dim; ++k) {
    double mean = 0;
    for (std::size_t i = 0; i < models.rows; ++i) {
      mean += static_cast<double>(models.row(i)[k]) / peers;
    }
    for (std::size_t i = 0; i < models.rows; ++i) {
      square += std::pow(static_cast<double>(models.row(i)[k]) - mean, 2) / peers;
    }
  }
  return std::sqrt(square);
}

}  // namespace hearsay::algorithm
