/// Exact diffusion (Yuan, Ying, Zhao, Sayed 2019), in the form that stays right when the learning
/// rate changes. W symmetric and static.
///
///   half_k = x_k - g_k [ (x_{k-1} - x_k) / g_{k-1} + d_k - d_{k-1} ]      (first round: x - g d)
///   x_{k+1} = W' half_k,   W' = (I + W) / 2
///
/// Kept as v = x_k - x_{k-1} rather than x_{k-1}, and v is mixed along: the recursion integrates v,
/// and differences of rounded x would leave it with an error that never goes away.
///
/// After a round with g = 0 it starts over with a plain step. `d2` and `nids` (Tang et al. 2018;
/// Li, Shi, Yan 2019) are the same with W in place of W', which needs lambda_min(W) > -1/3.
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/methods.h"

namespace hearsay::algorithm {

namespace {

class ExactDiffusion : public Base {
 public:
  ExactDiffusion(const Bank& bank, double rate)
      : Base(bank), rate_(rate), v_(another()), d_old_(another()) {}

  void step(backend::Block direction) override {
    const float g = round_.lr;
    kernels_.axpby(1.0f, direction, -1.0f, d_old_);  // d - d_old, exactly 0 at a fixed point
    if (previous_g_ == 0) {
      kernels_.axpby(-g, direction, 0.0f, v_);
    } else {
      kernels_.axpby(-g, d_old_, g / static_cast<float>(previous_g_), v_);
    }
    kernels_.copy(direction, d_old_);
    kernels_.copy(x_, direction);
    kernels_.axpy(1.0f, v_, direction);
    half_ = direction;
    previous_g_ = static_cast<double>(g);
  }

  void emit(Outbox& outbox) override {
    outbox.rate = rate_;
    outbox.send_all(half_);
  }

  void mix(const Exchange& exchange) override {
    kernels_.mix(exchange.mixing(), exchange.vectors[0], v_);
    kernels_.axpy(1.0f, v_, x_);
  }

  double averaging_rate() const override { return rate_; }
  void state(backend::StateList& list) override {
    Base::state(list);
    list.per_peer("v", v_);
    list.per_peer("d_old", d_old_);
    list.scalar("previous_lr", previous_g_);
  }

 private:
  double rate_;
  backend::Array v_, d_old_;
  backend::ConstBlock half_;
  double previous_g_ = 0;
};

}  // namespace

std::unique_ptr<Algorithm> make_exact_diffusion(const Arguments&, const Bank& bank) {
  return std::make_unique<ExactDiffusion>(bank, 0.5);
}

std::unique_ptr<Algorithm> make_d2(const Arguments&, const Bank& bank) {
  return std::make_unique<ExactDiffusion>(bank, 1.0);
}

}  // namespace hearsay::algorithm
