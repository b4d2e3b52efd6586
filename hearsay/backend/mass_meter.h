#pragma once

#include <algorithm>
#include <vector>

#include "hearsay/backend/kernels.h"

namespace hearsay::backend {

/// How well mixing conserves mass: |sum_i x_i(after) - sum_i x_i(before)|_1 over |sum_i
/// |x_i(before)||_1 for each measured `mix`, local steps excluded. A few units of 1e-8 is rounding;
/// more is a defect.
class MassMeter {
 public:
  void before(Kernels& kernels, std::span<const VectorView> q, ConstBlock x);
  void after(Kernels& kernels, ConstBlock x);

  /// The largest drift of a measured mix since the last reset.
  double drift() const { return drift_; }
  void reset(double drift = 0) { drift_ = drift; }

 private:
  std::vector<double> before_;  ///< only between before() and after()
  double size_ = 0;
  double drift_ = 0;
};

}  // namespace hearsay::backend
