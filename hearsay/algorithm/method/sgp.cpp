/// SGP, stochastic gradient push (Assran, Loizou, Ballas, Rabbat 2019). W column-stochastic.
///
///   x = W (x - lr d(z)),   u = W u,   z = x / u
///
/// overlap=1 sends before the gradient, so messages lag one step: x = W x - lr d(z).
#include <optional>

#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

class Sgp : public PushSumBase {
 public:
  using PushSumBase::PushSumBase;
};

class OverlapSgp : public PushSumBase {
 public:
  using PushSumBase::PushSumBase;

  Plan plan(const Round& round) override {
    PushSumBase::plan(round);
    direction_.reset();
    return {.send_first = true};
  }

  void step(backend::Block direction) override { direction_ = direction; }
  void mix(const Exchange& exchange) override {
    kernels_.mix(exchange.mixing(), exchange.vectors[0], x_);
    u_.mix(exchange);
    if (direction_) kernels_.axpy(-round_.lr, *direction_, x_);
    debias();
  }

 private:
  std::optional<backend::ConstBlock> direction_;  ///< none in a round without a gradient
};

}  // namespace

std::unique_ptr<Algorithm> make_sgp(const Arguments& arguments, const Bank& bank) {
  if (arguments.flag("overlap")) return std::make_unique<OverlapSgp>(bank);
  return std::make_unique<Sgp>(bank);
}

}  // namespace hearsay::algorithm
