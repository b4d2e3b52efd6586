#pragma once

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/algorithm/push_sum.h"

namespace hearsay::algorithm {

/// What most methods share: the models x, gossiped once per round; no push-sum, no global rounds.
class Base : public Algorithm {
 public:
  explicit Base(const Bank& bank)
      : kernels_(bank.kernels), x_(bank.kernels.allocate(bank.rows, bank.layout.dim())) {}

  backend::Block initial() override { return x_; }
  void start() override {}

  Plan plan(const Round& round) override {
    round_ = round;
    return {};
  }

  backend::ConstBlock point() const override { return x_; }
  backend::ConstBlock numerator() const override { return x_; }
  void step(backend::Block direction) override {
    kernels_.axpy(-round_.lr, direction, x_);
    kernels_.discard(direction);
  }
  void emit(Outbox& outbox) override { outbox.send_all(x_); }
  void mix(const Exchange& exchange) override {
    kernels_.mix(exchange.mixing(), exchange.vectors[0], x_);
  }
  void average(Collective& collective, std::span<const double>) override { collective.mean(x_); }
  std::span<const double> push_sum() const override { return {}; }
  double averaging_rate() const override { return 1; }
  std::uint32_t final_rounds() const override { return 0; }
  void state(backend::StateList& list) override { list.per_peer("x", x_); }
  void restored() override {}

 protected:
  backend::Array another() { return kernels_.allocate(x_.block().rows, x_.block().dim); }

  backend::Kernels& kernels_;
  backend::Array x_;
  Round round_;
};

/// The same with push-sum: x is the numerator and z = x/u the model.
class PushSumBase : public Base {
 public:
  explicit PushSumBase(const Bank& bank) : Base(bank), u_(bank) {}

  void start() override { debias(); }
  backend::ConstBlock point() const override { return z_; }
  void mix(const Exchange& exchange) override {
    Base::mix(exchange);
    u_.mix(exchange);
    debias();
  }
  std::span<const double> push_sum() const override { return u_.weights(); }
  void state(backend::StateList& list) override {
    Base::state(list);
    u_.state(list);
  }
  void restored() override { debias(); }

 protected:
  void debias() { z_ = u_.debias(kernels_, x_); }

  PushSum u_;

 private:
  backend::ConstBlock z_;
};

}  // namespace hearsay::algorithm
