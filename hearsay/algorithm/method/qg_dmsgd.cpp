/// Quasi-global momentum (Lin, Karimireddy, Stich, Jaggi 2021): the momentum follows the model's
/// actual movement, mixing included, so that it is less biased by a peer's own data. W is doubly
/// stochastic and may change. m is never sent.
///
///   m' = b m + d,   direction = m'   (nesterov=1: d + b m')
///   x+ = W (x - g direction)
///   m  = (1 - mu) m + mu (x - x+) / g
///
/// Rounds with g = 0 do not change m.
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

class QgDmsgd : public Base {
 public:
  QgDmsgd(const Bank& bank, float beta, float mu, bool nesterov)
      : Base(bank), beta_(beta), mu_(mu), nesterov_(nesterov), m_(another()) {}

  void step(backend::Block direction) override {
    if (nesterov_) {  // d + b (b m + d)
      kernels_.axpby(beta_ * beta_, m_, 1.0f + beta_, direction);
    } else {
      kernels_.axpy(beta_, m_, direction);
    }
    // (x - x+) / g = direction + (half - x+) / g: the first term now, the second after mixing.
    if (round_.lr != 0) kernels_.axpby(mu_, direction, 1.0f - mu_, m_);
    kernels_.axpy(-round_.lr, direction, x_);
    kernels_.copy(x_, direction);
    half_ = direction;
  }

  void mix(const Exchange& exchange) override {
    Base::mix(exchange);
    if (round_.lr == 0) return;
    kernels_.axpy(-1.0f, x_, half_);
    kernels_.axpy(mu_ / round_.lr, half_, m_);
  }

  void state(backend::StateList& list) override {
    Base::state(list);
    list.per_peer("m", m_);
  }

 private:
  float beta_, mu_;
  bool nesterov_;
  backend::Array m_;
  backend::Block half_;
};

}  // namespace

std::unique_ptr<Algorithm> make_qg_dmsgd(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<QgDmsgd>(bank, static_cast<float>(arguments.number_in_range("beta")),
                                   static_cast<float>(arguments.number_in_range("mu")),
                                   arguments.flag("nesterov"));
}

}  // namespace hearsay::algorithm
