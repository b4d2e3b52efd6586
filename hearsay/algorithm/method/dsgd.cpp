/// D-SGD, also D-PSGD (Lian et al. 2017; Nedic, Ozdaglar 2009). W doubly stochastic.
///
///   order=atc   adapt then combine   x = W (x - lr d)
///   order=awc   adapt while combine  x = W x - lr d     messages do not wait for gradients
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

class AdaptThenCombine : public Base {
 public:
  using Base::Base;
};

class AdaptWhileCombine : public Base {
 public:
  using Base::Base;

  Plan plan(const Round& round) override {
    Base::plan(round);
    return {.send_first = true};
  }

  // The step is applied after mixing, so that the message can be x itself rather than a copy.
  void step(backend::Block direction) override { direction_ = direction; }
  void mix(const Exchange& exchange) override {
    Base::mix(exchange);
    kernels_.axpy(-round_.lr, direction_, x_);
  }

 private:
  backend::ConstBlock direction_;
};

}  // namespace

std::unique_ptr<Algorithm> make_dsgd(const Arguments& arguments, const Bank& bank) {
  if (arguments.choice("order") == 1) return std::make_unique<AdaptWhileCombine>(bank);
  return std::make_unique<AdaptThenCombine>(bank);
}

}  // namespace hearsay::algorithm
