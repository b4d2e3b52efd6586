/// DmSGD (Ying et al. 2021, Alg. 1): momentum is mixed too. W is doubly stochastic and may change.
///
///   m' = W (b m + d),   x = W (x - g m)     with the old m; two vectors per message
///
/// vanilla=1: m stays local.
///
///   m = b m + d,        x = W (x - g m)
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

class Dmsgd : public Base {
 public:
  Dmsgd(const Bank& bank, float beta, bool vanilla)
      : Base(bank), beta_(beta), vanilla_(vanilla), m_(another()) {}

  void step(backend::Block direction) override {
    if (!vanilla_) kernels_.axpy(-round_.lr, m_, x_);
    kernels_.axpby(1.0f, direction, beta_, m_);
    if (vanilla_) kernels_.axpy(-round_.lr, m_, x_);
  }

  void emit(Outbox& outbox) override {
    outbox.send_all(x_);
    if (!vanilla_) outbox.send_all(m_);
  }

  void mix(const Exchange& exchange) override {
    Base::mix(exchange);
    if (!vanilla_) kernels_.mix(exchange.mixing(), exchange.vectors[1], m_);
  }

  void state(backend::StateList& list) override {
    Base::state(list);
    list.per_peer("m", m_);
  }

 private:
  float beta_;
  bool vanilla_;
  backend::Array m_;
};

}  // namespace

std::unique_ptr<Algorithm> make_dmsgd(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<Dmsgd>(bank, static_cast<float>(arguments.number_in_range("beta")),
                                 arguments.flag("vanilla"));
}

}  // namespace hearsay::algorithm
