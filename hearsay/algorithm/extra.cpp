/// EXTRA (Shi, Ling, Wu, Yin 2015). W symmetric and static, W' = (I + W) / 2.
///
///   x_{k+1} = W' (2 x_k - x_{k-1}) - g (d_k - d_{k-1}),   x_{-1} = x_0,  d_{-1} = 0
///
/// The message does not wait for the gradient. Made for a constant learning rate.
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/methods.h"

namespace hearsay::algorithm {

namespace {

class Extra : public Base {
 public:
  explicit Extra(const Bank& bank) : Base(bank), x_old_(another()), d_old_(another()) {}

  void start() override { kernels_.copy(x_, x_old_); }

  Plan plan(const Round& round) override {
    Base::plan(round);
    return {.send_first = true};
  }

  void emit(Outbox& outbox) override {
    kernels_.axpby(2.0f, x_, -1.0f, x_old_);
    outbox.rate = kHalf;
    outbox.send_all(x_old_);
  }

  void step(backend::Block direction) override { direction_ = direction; }

  void mix(const Exchange& exchange) override {
    kernels_.mix(exchange.mixing(), exchange.vectors[0], x_old_);
    kernels_.axpy(-round_.lr, direction_, x_old_);
    kernels_.axpy(round_.lr, d_old_, x_old_);
    kernels_.copy(direction_, d_old_);
    std::swap(x_, x_old_);
  }

  double averaging_rate() const override { return kHalf; }
  void state(backend::StateList& list) override {
    Base::state(list);
    list.per_peer("x_old", x_old_);
    list.per_peer("d_old", d_old_);
  }

 private:
  static constexpr double kHalf = 0.5;  // W' = I + (W - I) / 2

  backend::Array x_old_, d_old_;
  backend::ConstBlock direction_;
};

}  // namespace

std::unique_ptr<Algorithm> make_extra(const Arguments&, const Bank& bank) {
  return std::make_unique<Extra>(bank);
}

}  // namespace hearsay::algorithm
