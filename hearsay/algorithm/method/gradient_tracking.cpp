/// Gradient tracking, adapt-then-combine form (Xu et al. 2015; Di Lorenzo, Scutari 2016; Nedic,
/// Olshevsky, Shi 2017): y tracks the average gradient. W is doubly stochastic and may change.
///
///   y += d - d_old   (first round: y = d),   x = W (x - g y),   y = W y
///
/// Push-DIGing (Nedic, Olshevsky, Shi 2017) is the same with push-sum over a column-stochastic W: u
/// is mixed too and d is taken at z = x / u. Two vectors per message, and every message must
/// arrive: after a loss y no longer tracks the average gradient.
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

template <class Model>
class GradientTracking : public Model {
 public:
  explicit GradientTracking(const Bank& bank)
      : Model(bank), y_(this->another()), d_old_(this->another()) {}

  void step(backend::Block direction) override {
    // y = 0 and d_old = 0 at the start make the first round's y = d. The difference is formed
    // first: it is exact where gradients hardly change, and y accumulates all of them.
    this->kernels_.axpby(1.0f, direction, -1.0f, d_old_);
    this->kernels_.axpy(1.0f, d_old_, y_);
    this->kernels_.copy(direction, d_old_);
    this->kernels_.axpy(-this->round_.lr, y_, this->x_);
  }

  void emit(Outbox& outbox) override {
    outbox.send_all(this->x_);
    outbox.send_all(y_);
  }

  void mix(const Exchange& exchange) override {
    this->kernels_.mix(exchange.mixing(), exchange.vectors[1], y_);
    Model::mix(exchange);
  }

  void state(backend::StateList& list) override {
    Model::state(list);
    list.per_peer("y", y_);
    list.per_peer("d_old", d_old_);
  }

 private:
  backend::Array y_, d_old_;
};

}  // namespace

std::unique_ptr<Algorithm> make_gradient_tracking(const Arguments&, const Bank& bank) {
  return std::make_unique<GradientTracking<Base>>(bank);
}

std::unique_ptr<Algorithm> make_push_diging(const Arguments&, const Bank& bank) {
  return std::make_unique<GradientTracking<PushSumBase>>(bank);
}

}  // namespace hearsay::algorithm
