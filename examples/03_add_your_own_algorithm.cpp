// Your own method: a class derived from algorithm::Base that overrides only what differs.
//
// Plain gossip, x = W x, has no memory. Second-order gossip (Muthukrishnan, Ghosh, Schultz 1998)
// keeps the previous x and over-relaxes:
//
//   x_{k+1} = omega W x_k + (1 - omega) x_{k-1},   x_1 = W x_0
//   omega = 2 / (1 + sqrt(1 - rho^2)),             rho the second eigenvalue of W, symmetric
//
// Sixteen peers on a ring average with both; the messages are of the same size.

#include <fmt/core.h>

#include <cmath>

#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/local_peers.h"

namespace algorithm = hearsay::algorithm;
namespace backend = hearsay::backend;

namespace {

class SecondOrderGossip : public algorithm::Base {
 public:
  explicit SecondOrderGossip(const algorithm::Bank& bank)
      : Base(bank), last_(another()), sent_(another()) {
    const double rho = bank.graph.second_modulus;
    omega_ = static_cast<float>(2 / (1 + std::sqrt(1 - rho * rho)));
  }

  // The message is x itself, as in Base; we keep a copy because mixing overwrites x.
  void emit(algorithm::Outbox& outbox) override {
    kernels_.copy(x_, sent_);
    Base::emit(outbox);
  }

  // Base mixes edge by edge: x += a (q_sender - own x). So what one peer gains another loses, and
  // the sum over peers is conserved.
  void mix(const algorithm::Exchange& exchange) override {
    Base::mix(exchange);
    if (round_.index > 0) kernels_.axpby(1 - omega_, last_, omega_, x_);
    std::swap(last_, sent_);
  }

  // Everything a checkpoint must hold. sent_ is rewritten every round and need not be saved.
  void state(backend::StateList& list) override {
    Base::state(list);
    list.per_peer("last", last_);
  }

 private:
  backend::Array last_, sent_;
  float omega_;
};

/// Rounds until the consensus distance is 1e-4 of the initial one.
std::uint32_t rounds_to_agree(algorithm::LocalPeers& peers, algorithm::Algorithm& method) {
  for (std::size_t i = 0; i < peers.peers(); ++i) method.initial().row(i)[0] = i == 0 ? 1.0f : 0.0f;
  method.start();
  const double first = algorithm::disagreement(method.point());
  while (algorithm::disagreement(method.point()) > 1e-4 * first && peers.round() < 1000) {
    peers.run_round(method);
  }
  return peers.round();
}

}  // namespace

int main() {
  const algorithm::LocalPeers::Options ring{.graph = "ring", .peers = 16, .dim = 1};

  algorithm::LocalPeers plain_peers(ring);
  const auto dsgd = algorithm::make_algorithm("dsgd", plain_peers.bank());
  const std::uint32_t plain = rounds_to_agree(plain_peers, *dsgd);

  algorithm::LocalPeers own_peers(ring);
  SecondOrderGossip second_order(own_peers.bank());
  const std::uint32_t own = rounds_to_agree(own_peers, second_order);

  fmt::print("dsgd:                {:3} rounds, {:5} bytes\n", plain, plain_peers.bytes_sent());
  fmt::print("second-order gossip: {:3} rounds, {:5} bytes\n", own, own_peers.bytes_sent());

  // A row in hearsay/algorithm/registry.cpp gives such a class a command-line name and enrolls it
  // in the tests of all methods: CONTRIBUTING.md, "Adding an algorithm".
  return own * 3 < plain ? 0 : 1;
}
