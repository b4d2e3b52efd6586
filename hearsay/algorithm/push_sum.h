#pragma once

#include <span>
#include <vector>

#include "hearsay/algorithm/exchange.h"
#include "hearsay/backend/kernels.h"
#include "hearsay/backend/state.h"

namespace hearsay::algorithm {

/// Push-sum weights (Kempe, Dobra, Gehrke 2003; Nedic, Olshevsky 2015): u is mixed like x, and x/u
/// is free of the bias of a W that is only column-stochastic.
///
///   u_i = 1;   u_i += sum_j a_ij u_j - (own debits) u_i;   z_i = x_i / u_i
///
/// Doubles. Where every u is exactly 1, as on every regular graph, z is x itself and costs nothing.
class PushSum {
 public:
  explicit PushSum(std::size_t rows) : u_(rows, 1.0) {}

  void mix(const Exchange& exchange);

  /// z for these x: x itself while u = 1, else an internal block, overwritten by each call.
  backend::ConstBlock debias(backend::Kernels& kernels, backend::ConstBlock x);

  void reset() { u_.assign(u_.size(), 1.0); }
  std::span<const double> weights() const { return u_; }
  void state(backend::StateList& list) { list.per_peer("push_sum", u_); }

 private:
  std::vector<double> u_, next_;
  backend::Array z_;
};

}  // namespace hearsay::algorithm
