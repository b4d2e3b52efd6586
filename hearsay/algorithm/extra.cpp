/// EXTRA (Shi, Ling, Wu, Yin 2015). W symmetric and static, W' = (I + W) / 2.
///
///   x_{k+1} = W' (2 x_k - x_{k-1}) - g (d_k - d_{k-1}),   x_{-1} = x_0,  d_{-1} = 0
///
/// Kept as v = x_k - x_{k-1} rather than x_{k-1}, for the reason given in exact_diffusion.cpp. Made
/// for a constant learning rate.
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/methods.h"

namespace hearsay::algorithm {

namespace {

class Extra : public Base {
 public:
  explicit Extra(const Bank& bank) : Base(bank), v_(another()), d_old_(another()) {}

  void step(backend::Block direction) override {
    kernels_.axpby(1.0f, direction, -1.0f, d_old_);
    kernels_.axpy(-round_.lr, d_old_, v_);
    // The message is x + v before that step: 2 x - x_old. d_old has room for it until the mixing.
    kernels_.axpby(1.0f, v_, round_.lr, d_old_);
    kernels_.axpy(1.0f, x_, d_old_);
    direction_ = direction;
  }

  void emit(Outbox& outbox) override {
    outbox.rate = kHalf;
    outbox.send_all(d_old_);
  }

  void mix(const Exchange& exchange) override {
    kernels_.mix(exchange.mixing(), exchange.vectors[0], v_);
    kernels_.axpy(1.0f, v_, x_);
    kernels_.copy(direction_, d_old_);
  }

  double averaging_rate() const override { return kHalf; }
  void state(backend::StateList& list) override {
    Base::state(list);
    list.per_peer("v", v_);
    list.per_peer("d_old", d_old_);
  }

 private:
  static constexpr double kHalf = 0.5;  // W' = I + (W - I) / 2

  backend::Array v_, d_old_;
  backend::ConstBlock direction_;
};

}  // namespace

std::unique_ptr<Algorithm> make_extra(const Arguments&, const Bank& bank) {
  return std::make_unique<Extra>(bank);
}

}  // namespace hearsay::algorithm
