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
#include "hearsay/algorithm/method/averaging_rate.h"
#include "hearsay/algorithm/method/difference_gossip.h"
#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

std::unique_ptr<Algorithm> make_choco(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<DifferenceGossip<Base>>(bank, difference_rate(arguments, bank));
}

std::unique_ptr<Algorithm> make_quant_sgp(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<DifferenceGossip<PushSumBase>>(bank, difference_rate(arguments, bank));
}

}  // namespace hearsay::algorithm
