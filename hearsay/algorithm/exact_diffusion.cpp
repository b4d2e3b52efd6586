/// Exact diffusion (Yuan, Ying, Zhao, Sayed 2019), in the form that stays right when the learning
/// rate changes. W symmetric and static.
///
///   half_k = x_k - g_k [ (x_{k-1} - x_k) / g_{k-1} + d_k - d_{k-1} ]      (first round: x - g d)
///   x_{k+1} = W' half_k,   W' = (I + W) / 2
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
      : Base(bank), rate_(rate), x_old_(another()), d_old_(another()) {}

  void step(backend::Block direction) override {
    const float g = round_.lr;
    if (previous_g_ == 0) {
      kernels_.copy(x_, x_old_);
      kernels_.axpy(-g, direction, x_);
    } else {
      const float ratio = g / static_cast<float>(previous_g_);
      kernels_.axpby(1.0f + ratio, x_, -ratio, x_old_);
      kernels_.axpy(-g, direction, x_old_);
      kernels_.axpy(g, d_old_, x_old_);
      std::swap(x_, x_old_);
    }
    kernels_.copy(direction, d_old_);
    previous_g_ = static_cast<double>(g);
  }

  void emit(Outbox& outbox) override {
    outbox.rate = rate_;
    Base::emit(outbox);
  }

  double averaging_rate() const override { return rate_; }
  void state(backend::StateList& list) override {
    Base::state(list);
    list.per_peer("x_old", x_old_);
    list.per_peer("d_old", d_old_);
    list.scalar("previous_lr", previous_g_);
  }

 private:
  double rate_;
  backend::Array x_old_, d_old_;
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
