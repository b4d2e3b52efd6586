/// Quasi-global momentum (Lin, Karimireddy, Stich, Jaggi 2021) over compressed differences: the
/// momentum of qg-dmsgd around the gossip of choco and quant-sgp, as in Table 3 of "Low Precision
/// Decentralized Distributed Training" (Aketi, Kodge, Roy). m is never sent.
///
///   m' = b u_i m + d,   direction = m'   (nesterov=1: d + b m')
///   q_i = C[x_i - g direction_i - hat_i],   hat_j += q_j for every known j
///   x_i+ = x_i - g direction_i + eta sum_j (W_ij - I_ij) hat_j
///   u_i+ = u_i + eta sum_j (W_ij - I_ij) u_j      (qg-choco: u = 1)
///   m = (1 - mu) m + mu (z - z+) / g,   z = x / u
///
/// Under push-sum m is the movement of the model z, so a step of the numerator x takes u m:
///
/// - Of x it would be wrong while u moves: peers that agree on z have x_i = u_i z, which changes
///   by (u_i+ - u_i) z, has nothing to do with descent, and is divided by g.
/// - With m in place of u m, a peer with u < b feeds its own step back with the factor b / u > 1
///   and diverges if eta is small. With u m the factor is b.
/// - The authors' code has direction - (x+ - x + g direction) / (g u) in place of (z - z+) / g. For
///   u = 1, as on all their graphs, that is the same; elsewhere the peers' mean stops beside the
///   optimum.
///
/// Rounded or dropped entries enter m divided by g. That is harmless here, because differences, and
/// with them their errors, shrink with g; models that were sent rounded would swamp m.
///
/// (z - z+) is formed within m, without another array: m += (mu / g) z before the local step and
/// m -= (mu / g) z+ after mixing. Its rounding, about mu |z| 6e-8 / g, is of the size of the
/// rounding of z+ itself. Rounds with g = 0 do not change m.
#include <vector>

#include "hearsay/algorithm/method/averaging_rate.h"
#include "hearsay/algorithm/method/difference_gossip.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

template <class Model>
class QuasiGlobal : public DifferenceGossip<Model> {
 public:
  QuasiGlobal(const Arguments& arguments, const Bank& bank)
      : DifferenceGossip<Model>(bank, difference_rate(arguments, bank)),
        beta_(static_cast<float>(arguments.number_in_range("beta"))),
        mu_(static_cast<float>(arguments.number_in_range("mu"))),
        nesterov_(arguments.flag("nesterov")),
        m_(this->another()) {}

  void step(backend::Block direction) override {
    measures_ = this->round_.lr != 0;
    if (measures_) {
      if (weighted()) {  // m = u m, until mix
        u_before_.assign(this->push_sum().begin(), this->push_sum().end());
        std::vector<double> inverse(u_before_);
        for (double& value : inverse) value = 1 / value;
        this->kernels_.divide_rows(m_, inverse, m_);
      }
      if (nesterov_) {  // d + b (b u m + d)
        this->kernels_.axpby(beta_ * beta_, m_, 1.0f + beta_, direction);
      } else {
        this->kernels_.axpy(beta_, m_, direction);
      }
      this->kernels_.axpby(mu_ / this->round_.lr, this->x_, 1.0f - mu_, m_);
    }
    DifferenceGossip<Model>::step(direction);
  }

  void mix(const Exchange& exchange) override {
    DifferenceGossip<Model>::mix(exchange);
    if (!measures_) return;
    if (weighted()) this->kernels_.divide_rows(m_, u_before_, m_);
    this->kernels_.axpy(-mu_ / this->round_.lr, this->point(), m_);
    measures_ = false;
  }

  void state(backend::StateList& list) override {
    DifferenceGossip<Model>::state(list);
    list.per_peer("m", m_);
  }

 private:
  /// Whether some u may differ from 1.
  bool weighted() const { return this->point().data != this->numerator().data; }

  float beta_, mu_;
  bool nesterov_;
  backend::Array m_;
  bool measures_ = false;         ///< between step and mix: m contains u (mu / g) z
  std::vector<double> u_before_;  ///< between step and mix, if weighted
};

}  // namespace

std::unique_ptr<Algorithm> make_qg_choco(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<QuasiGlobal<Base>>(arguments, bank);
}

std::unique_ptr<Algorithm> make_qg_quant_sgp(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<QuasiGlobal<PushSumBase>>(arguments, bank);
}

}  // namespace hearsay::algorithm
