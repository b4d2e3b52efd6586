#include "hearsay/algorithm/push_sum.h"

#include <algorithm>
#include <cassert>

namespace hearsay::algorithm {

void PushSum::mix(const Exchange& exchange) {
  next_ = u_;
  for (std::size_t i = 0; i < u_.size(); ++i) {
    double gained = 0;
    for (std::uint32_t e = exchange.begin[i]; e < exchange.begin[i + 1]; ++e) {
      gained += static_cast<double>(exchange.weight[e]) * exchange.push_sum[exchange.source[e]];
    }
    next_[i] += gained - exchange.debit[i] * u_[i];
  }
  u_.swap(next_);
}

backend::ConstBlock PushSum::debias(backend::Kernels& kernels, backend::ConstBlock x) {
  if (stays_one_) {
    assert(std::ranges::all_of(u_, [](double u) { return u == 1.0; }));
    return x;
  }
  if (z_.empty()) z_ = kernels.allocate(x.rows, x.dim);
  kernels.divide_rows(x, u_, z_);
  return z_;
}

}  // namespace hearsay::algorithm
