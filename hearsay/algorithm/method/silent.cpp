/// The no-communication baseline: every peer trains alone. Any other method has to beat it.
///
///   x_i = x_i - lr d_i
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

class Silent : public Base {
 public:
  using Base::Base;
  Plan plan(const Round& round) override {
    Base::plan(round);
    return {.talk = Plan::Talk::kSilent};
  }
};

}  // namespace

std::unique_ptr<Algorithm> make_silent(const Arguments&, const Bank& bank) {
  return std::make_unique<Silent>(bank);
}

}  // namespace hearsay::algorithm
