#pragma once

#include <type_traits>

#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/public_copies.h"

namespace hearsay::algorithm {

/// Gossip on compressed differences, as in CHOCO-SGD and Quant-SGP: choco.cpp has the formulas.
///
/// `Model` is Base or PushSumBase; with u = 1 the two recursions coincide.
template <class Model>
class DifferenceGossip : public Model {
 public:
  DifferenceGossip(const Bank& bank, double eta) : Model(bank), copies_(bank), eta_(eta) {}

  void meet(std::span<const std::uint32_t> senders) override { copies_.meet(senders); }

  Plan plan(const Round& round) override {
    if (round.phase != phase_) copies_.reset();
    phase_ = round.phase;
    return Model::plan(round);
  }

  void step(backend::Block direction) override {
    Model::step(direction);
    scratch_ = direction;
  }

  void emit(Outbox& outbox) override {
    outbox.rate = eta_;
    copies_.emit_difference(this->x_, this->round_.index, scratch_, outbox);
  }

  void mix(const Exchange& exchange) override {
    copies_.follow(exchange);
    copies_.mix_into(exchange, this->x_);
    mixed(exchange);
  }

  double averaging_rate() const override { return eta_; }
  void state(backend::StateList& list) override {
    Model::state(list);
    copies_.state(list);
    list.scalar("phase", phase_);
  }

 private:
  void mixed([[maybe_unused]] const Exchange& exchange) {
    if constexpr (std::is_same_v<Model, PushSumBase>) {
      this->u_.mix(exchange);
      this->debias();
    }
  }

  PublicCopies copies_;
  double eta_;
  std::uint64_t phase_ = 0;
  backend::Block scratch_;
};

}  // namespace hearsay::algorithm
