/// Deep-Squeeze (Tang et al. 2019): error-feedback compression of the model. W doubly stochastic.
///
///   v = x - lr d + delta,   q = C[v],   delta = v - q
///   x = x - lr d + eta (W - I) q
///
/// Plateaus proportionally to eta in pure averaging; diverges if eta is large for the compression.
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/averaging_rate.h"
#include "hearsay/algorithm/method/error_feedback.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

class DeepSqueeze : public Base {
 public:
  DeepSqueeze(const Bank& bank, double eta) : Base(bank), feedback_(bank), eta_(eta) {}

  void emit(Outbox& outbox) override {
    outbox.rate = eta_;
    feedback_.emit(x_, round_.index, outbox);
  }
  double averaging_rate() const override { return eta_; }
  void state(backend::StateList& list) override {
    Base::state(list);
    feedback_.state(list);
  }

 private:
  ErrorFeedback feedback_;
  double eta_;
};

}  // namespace

std::unique_ptr<Algorithm> make_deep_squeeze(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<DeepSqueeze>(bank, feedback_rate(arguments, bank));
}

}  // namespace hearsay::algorithm
