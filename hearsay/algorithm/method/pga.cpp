/// D-SGD with periodic global averaging (Chen et al. 2021). W doubly stochastic.
///
///   x = mean_j (x_j - g d_j)      in every H-th round
///   x = W (x - g d)               in between: pga;   x = x - g d: local-sgd (also FedAvg)
///
/// aga adapts H at each global average to the mean loss f, averaged along with it; f0 is the first:
///
///   H = (f0 / f)^exponent H0,     at least 1
#include <algorithm>
#include <cmath>

#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

class PeriodicAverage : public Base {
 public:
  PeriodicAverage(const Bank& bank, std::uint64_t period, Plan::Talk between, double exponent)
      : Base(bank),
        between_(between),
        exponent_(exponent),
        first_period_(period),
        period_(period) {}

  Plan plan(const Round& round) override {
    Base::plan(round);
    if (since_ + 1 < period_) return {.talk = between_};
    return {.talk = Plan::Talk::kGlobal, .reads_losses = exponent_ != 0};
  }

  void step(backend::Block direction) override {
    Base::step(direction);
    ++since_;
  }

  void average(Collective& collective, std::span<const double> losses) override {
    Base::average(collective, losses);
    since_ = 0;
    if (exponent_ == 0) return;
    const double loss = collective.mean(losses);
    if (first_loss_ == 0) first_loss_ = loss;
    if (!(loss > 0) || !(first_loss_ > 0)) return;  // the rule needs positive losses
    const double period =
        std::pow(first_loss_ / loss, exponent_) * static_cast<double>(first_period_);
    if (std::isnan(period)) return;  // the run has diverged; reported elsewhere
    period_ = static_cast<std::uint64_t>(std::clamp(std::round(period), 1.0, 1e9));
  }

  void state(backend::StateList& list) override {
    Base::state(list);
    list.scalar("rounds_since_average", since_);
    list.scalar("period", period_);
    list.scalar("first_loss", first_loss_);
  }

 private:
  Plan::Talk between_;
  double exponent_;
  std::uint64_t first_period_, period_;
  std::uint64_t since_ = 0;
  double first_loss_ = 0;
};

std::uint64_t period(const Arguments& arguments) {
  return static_cast<std::uint64_t>(arguments.integer_in_range("period"));
}

}  // namespace

std::unique_ptr<Algorithm> make_pga(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<PeriodicAverage>(bank, period(arguments), Plan::Talk::kGossip, 0.0);
}

std::unique_ptr<Algorithm> make_local_sgd(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<PeriodicAverage>(bank, period(arguments), Plan::Talk::kSilent, 0.0);
}

std::unique_ptr<Algorithm> make_aga(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<PeriodicAverage>(bank, period(arguments), Plan::Talk::kGossip,
                                           arguments.number_in_range("exponent"));
}

}  // namespace hearsay::algorithm
