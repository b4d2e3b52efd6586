/// P-SGD, the baseline with all-reduce: a global average every round.
///
///   x_i = mean_j (x_j - lr d_j)
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

class Psgd : public Base {
 public:
  using Base::Base;
  Plan plan(const Round& round) override {
    Base::plan(round);
    return {.talk = Plan::Talk::kGlobal};
  }
};

}  // namespace

std::unique_ptr<Algorithm> make_psgd(const Arguments&, const Bank& bank) {
  return std::make_unique<Psgd>(bank);
}

}  // namespace hearsay::algorithm
