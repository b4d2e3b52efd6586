/// SlowMo (Wang, Tantia, Ballas, Rabbat 2020) around SGP: every `period` rounds a global average
/// followed by a slow momentum step. Any column-stochastic W; the optimizer's own momentum is not
/// reset.
///
///   between   x = W (x - g d(z)),   u = W u,   z = x / u
///   then      xbar = mean_j (x_j - g d_j),   b = beta b + (y - xbar) / g,   y -= alpha g b
///             x = y,   u = 1
///
/// y starts at x0, the same on every peer. With g = 0 the slow step is skipped: x = xbar.
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

class SlowMo : public PushSumBase {
 public:
  SlowMo(const Bank& bank, std::uint32_t period, float beta, float alpha)
      : PushSumBase(bank),
        period_(period),
        beta_(beta),
        alpha_(alpha),
        y_(another()),
        b_(another()) {}

  void start() override {
    kernels_.copy(x_, y_);
    PushSumBase::start();
  }

  Plan plan(const Round& round) override {
    PushSumBase::plan(round);
    const bool global = (round.index + 1) % period_ == 0;
    return {.talk = global ? Plan::Talk::kGlobal : Plan::Talk::kGossip};
  }

  void average(Collective& collective, std::span<const double>) override {
    collective.mean(x_);
    u_.reset();
    const float g = round_.lr;
    if (g == 0) {
      kernels_.copy(x_, y_);
    } else {
      kernels_.axpby(1.0f / g, y_, beta_, b_);
      kernels_.axpy(-1.0f / g, x_, b_);
      kernels_.axpy(-alpha_ * g, b_, y_);
      kernels_.copy(y_, x_);
    }
    debias();
  }

  void state(backend::StateList& list) override {
    PushSumBase::state(list);
    list.per_peer("y", y_);
    list.per_peer("b", b_);
  }

 private:
  std::uint32_t period_;
  float beta_, alpha_;
  backend::Array y_, b_;
};

}  // namespace

std::unique_ptr<Algorithm> make_slowmo(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<SlowMo>(bank,
                                  static_cast<std::uint32_t>(arguments.integer_in_range("period")),
                                  static_cast<float>(arguments.number_in_range("beta")),
                                  static_cast<float>(arguments.number_in_range("alpha")));
}

}  // namespace hearsay::algorithm
