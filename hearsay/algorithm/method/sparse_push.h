#pragma once

#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/error_feedback.h"

namespace hearsay::algorithm {

/// Sparse-Push (Aketi, Singh, Rabaey 2021, Alg. 1): error-feedback compression with push-sum. W is
/// column-stochastic and may change every round.
///
///   v = x - lr d(z) + delta,   q = C[v],   delta = v - q
///   x = x - lr d(z) + eta (W - I) q
///   u = u + eta (W - I) u,     z = x / u
///
/// Plateaus proportionally to eta in pure averaging; diverges if eta is large for the compression.
///
/// Skew-Compensated Sparse-Push (Alg. 2) ends with `final_rounds` of plain push-sum: no gradient,
/// no compression, eta = 1, delta dropped. (The paper does not give eta for this phase; 50 rounds
/// at its training rate would have almost no effect.)
class SparsePush : public PushSumBase {
 public:
  SparsePush(const Bank& bank, double eta, std::uint32_t final_rounds)
      : PushSumBase(bank), feedback_(bank), eta_(eta), final_rounds_(final_rounds) {}

  Plan plan(const Round& round) override {
    PushSumBase::plan(round);
    return {.gradient = !round.last_phase};
  }

  void emit(Outbox& outbox) override {
    if (round_.last_phase) return PushSumBase::emit(outbox);
    outbox.rate = eta_;
    feedback_.emit(x_, round_.index, outbox);
  }

  double averaging_rate() const override { return eta_; }
  std::uint32_t final_rounds() const override { return final_rounds_; }
  void state(backend::StateList& list) override {
    PushSumBase::state(list);
    feedback_.state(list);
  }

 private:
  ErrorFeedback feedback_;
  double eta_;
  std::uint32_t final_rounds_;
};

}  // namespace hearsay::algorithm
