/// CHOCO-SGD (Koloskova, Stich, Jaggi 2019): gossip on compressed differences. W symmetric.
///
///   q_i = C[x_i - lr d_i - hat_i],   hat_j += q_j for every known j
///   x_i = x_i - lr d_i + eta sum_j (W_ij - I_ij) hat_j
///
/// Public copies start at 0 and are reset to 0 whenever the graph's phase changes. The sum over
/// hats is recomputed each round: a running aggregate drifts, and is wrong once W changes.
///
/// Quant-SGP (Taheri et al. 2020) is the same with push-sum over a column-stochastic W:
///
///   u_i += eta sum_j (W_ij - I_ij) u_j,   z = x / u,   d at z
///
/// in this form, which conserves mass; the paper's sum of (W_ij - I_ij)(hat_j - hat_i) does not
/// unless the rows of W sum to 1.
#include "hearsay/algorithm/base.h"
#include "hearsay/algorithm/method/averaging_rate.h"
#include "hearsay/algorithm/method/methods.h"
#include "hearsay/algorithm/method/public_copies.h"

namespace hearsay::algorithm {

namespace {

/// `Model` is Base or PushSumBase; with u = 1 the two recursions coincide.
template <class Model>
class DifferenceGossip : public Model {
 public:
  DifferenceGossip(const Bank& bank, double eta) : Model(bank), copies_(bank), eta_(eta) {}

  void meet(std::span<const std::uint32_t> senders) override { copies_.meet(senders); }

  Plan plan(const Round& round) override {
    if (round.phase != phase_) copies_.reset();
    phase_ = round.phase;
    return Model::plan(round);
  }

  void step(backend::Block direction) override {
    Model::step(direction);
    scratch_ = direction;
  }

  void emit(Outbox& outbox) override {
    outbox.rate = eta_;
    copies_.emit_difference(this->x_, this->round_.index, scratch_, outbox);
  }

  void mix(const Exchange& exchange) override {
    copies_.follow(exchange);
    copies_.mix_into(exchange, this->x_);
    mixed(exchange);
  }

  double averaging_rate() const override { return eta_; }
  void state(backend::StateList& list) override {
    Model::state(list);
    copies_.state(list);
    list.scalar("phase", phase_);
  }

 private:
  void mixed([[maybe_unused]] const Exchange& exchange) {
    if constexpr (std::is_same_v<Model, PushSumBase>) {
      this->u_.mix(exchange);
      this->debias();
    }
  }

  PublicCopies copies_;
  double eta_;
  std::uint64_t phase_ = 0;
  backend::Block scratch_;
};

}  // namespace

std::unique_ptr<Algorithm> make_choco(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<DifferenceGossip<Base>>(bank, difference_rate(arguments, bank));
}

std::unique_ptr<Algorithm> make_quant_sgp(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<DifferenceGossip<PushSumBase>>(bank, difference_rate(arguments, bank));
}

}  // namespace hearsay::algorithm
