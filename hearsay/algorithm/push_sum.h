#pragma once

#include <span>
#include <vector>

#include "hearsay/algorithm/bank.h"
#include "hearsay/backend/kernels.h"
#include "hearsay/backend/state.h"

namespace hearsay::algorithm {

/// Push-sum weights (Kempe, Dobra, Gehrke 2003; Nedic, Olshevsky 2015): u is mixed like x, and x/u
/// is free of the bias of a W that is only column-stochastic.
///
///   u_i = 1;   u_i += sum_j a_ij u_j - (own debits) u_i;   z_i = x_i / u_i
///
/// Doubles. Where every u stays exactly 1 (graph::Facts::balanced, and no message gets lost or is
/// late), z is x itself and costs nothing; elsewhere z is a block of its own from the start. Either
/// way it never moves: models are where they were when training began.
class PushSum {
 public:
  explicit PushSum(const Bank& bank)
      : u_(bank.rows, 1.0), stays_one_(bank.graph.balanced && !bank.irregular) {}

  void mix(const Exchange& exchange);

  /// z for these x, which must be the same block in every call.
  backend::ConstBlock debias(backend::Kernels& kernels, backend::ConstBlock x);

  void reset() { u_.assign(u_.size(), 1.0); }
  std::span<const double> weights() const { return u_; }
  void state(backend::StateList& list) { list.per_peer("push_sum", u_); }

 private:
  std::vector<double> u_, next_;
  bool stays_one_;
  backend::Array z_;  ///< empty if u stays 1
};

}  // namespace hearsay::algorithm
