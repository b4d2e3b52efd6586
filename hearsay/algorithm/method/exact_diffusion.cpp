/// Exact diffusion (Yuan, Ying, Zhao, Sayed 2019), in the form that stays correct when the learning
/// rate changes. W symmetric and static.
///
///   half_k = x_k - g_k [ (x_{k-1} - x_k) / g_{k-1} + d_k - d_{k-1} ]      (first round: x - g d)
///   x_{k+1} = W' half_k,   W' = (I + W) / 2
///
/// The state is p_k = x_k - x_{k-1} + g_{k-1} d_{k-1}, by how much mixing has moved a peer beyond
/// its own step (the dual variable of the method):
///
///   half_k = x_k - g_k d_k + r p_k,   r = g_k / g_{k-1}   (0 in the first round)
///   p_{k+1} = r p_k + (W' - I) half_k,   x_{k+1} = x_k - g_k d_k + p_{k+1}
///
/// p sums to 0 over the peers, and x integrates it: a residual of that sum, 1e-8 if p is rounded
/// once per round, moves all models in every later round, and without gradients nothing corrects
/// it. So p is stored in two floats, p + low (Kernels::mix_compensated).
///
/// After a round with g = 0 the method restarts with a plain step. `d2` and `nids` (Tang et al.
/// 2018; Li, Shi, Yan 2019) are the same with W in place of W', which needs lambda_min(W) > -1/3.
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

class ExactDiffusion : public Base {
 public:
  ExactDiffusion(const Bank& bank, double rate)
      : Base(bank), rate_(rate), p_(another()), low_(another()) {}

  void step(backend::Block direction) override {
    const float g = round_.lr;
    keep_ = previous_g_ == 0 ? 0.0f : g / static_cast<float>(previous_g_);
    kernels_.axpy(-g, direction, x_);
    kernels_.copy(x_, direction);
    kernels_.axpy(keep_, p_, direction);
    half_ = direction;
    previous_g_ = static_cast<double>(g);
  }

  void emit(Outbox& outbox) override {
    outbox.rate = rate_;
    outbox.send_all(half_);
  }

  void mix(const Exchange& exchange) override {
    kernels_.mix_compensated(exchange.mixing(), exchange.vectors[0], keep_, p_, low_);
    kernels_.axpy(1.0f, p_, x_);
  }

  double averaging_rate() const override { return rate_; }
  void state(backend::StateList& list) override {
    Base::state(list);
    list.per_peer("p", p_);
    list.per_peer("low", low_);
    list.scalar("previous_lr", previous_g_);
  }

 private:
  double rate_;
  backend::Array p_, low_;
  backend::ConstBlock half_;
  float keep_ = 0;
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
