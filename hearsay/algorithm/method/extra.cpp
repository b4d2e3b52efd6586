/// EXTRA (Shi, Ling, Wu, Yin 2015). W symmetric and static, W' = (I + W) / 2.
///
///   x_{k+1} = W' (2 x_k - x_{k-1}) - g (d_k - d_{k-1}),   x_{-1} = x_0,  d_{-1} = 0
///
/// The state is v_k = x_k - x_{k-1}, and p_k = v_k + g d_{k-1} in two floats, for the reason given
/// in exact_diffusion.cpp:
///
///   p_{k+1} = p_k + (W' - I) (x_k + v_k),   v_{k+1} = p_{k+1} - g d_k,   x_{k+1} = x_k + v_{k+1}
///
/// Designed for a constant learning rate. If it changes, p_k is converted to the new rate,
/// v_k + g_k d_{k-1} = r p_k - (r - 1) v_k with r = g_k / g_{k-1}.
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

class Extra : public Base {
 public:
  explicit Extra(const Bank& bank) : Base(bank), p_(another()), low_(another()), v_(another()) {}

  void step(backend::Block direction) override {
    const double g = static_cast<double>(round_.lr);
    if (previous_g_ > 0 && g != previous_g_) {
      const double ratio = g / previous_g_;
      kernels_.axpby(static_cast<float>(1 - ratio), v_, static_cast<float>(ratio), p_);
    }
    previous_g_ = g;
    kernels_.axpy(1.0f, x_, v_);  // v holds the message until mixing
    direction_ = direction;
  }

  void emit(Outbox& outbox) override {
    outbox.rate = kHalf;
    outbox.send_all(v_);
  }

  void mix(const Exchange& exchange) override {
    kernels_.mix_compensated(exchange.mixing(), exchange.vectors[0], 1.0f, p_, low_);
    kernels_.axpby(1.0f, p_, -round_.lr, direction_);
    kernels_.axpy(1.0f, direction_, x_);
    kernels_.copy(direction_, v_);
    kernels_.discard(direction_);
  }

  double averaging_rate() const override { return kHalf; }
  void state(backend::StateList& list) override {
    Base::state(list);
    list.per_peer("p", p_);
    list.per_peer("low", low_);
    list.per_peer("v", v_);
    list.scalar("previous_lr", previous_g_);
  }

 private:
  static constexpr double kHalf = 0.5;  // W' = I + (W - I) / 2

  backend::Array p_, low_, v_;
  backend::Block direction_;
  double previous_g_ = 0;
};

}  // namespace

std::unique_ptr<Algorithm> make_extra(const Arguments&, const Bank& bank) {
  return std::make_unique<Extra>(bank);
}

}  // namespace hearsay::algorithm
