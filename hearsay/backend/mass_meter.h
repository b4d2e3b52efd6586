#pragma once

#include <algorithm>
#include <vector>

#include "hearsay/backend/kernels.h"

namespace hearsay::backend {

/// How well mixing conserves mass: |sum_i x_i(after) - sum_i x_i(before)|_1 over |sum_i
/// |x_i(before)||_1 for each measured `mix`, sums over all n peers, local steps excluded; where the
/// vectors q are larger than the x, over their size. A few units of 1e-8 is rounding; more is a
/// defect.
class MassMeter {
 public:
  virtual ~MassMeter() = default;

  /// Called by Kernels::mix around each mix of a bank.
  virtual void before(Kernels& kernels, std::span<const VectorView> q, ConstBlock x) = 0;
  virtual void after(Kernels& kernels, ConstBlock x) = 0;

  /// The largest drift of a measured mix since the last reset.
  double drift() const { return drift_; }
  void reset(double drift = 0) { drift_ = drift; }

 protected:
  /// A mix changed the sum by `change`, of `size`.
  void measured(double change, double size) {
    if (size > 0) drift_ = std::max(drift_, change / size);
  }

 private:
  double drift_ = 0;
};

/// The meter of a bank that holds all n peers.
class LocalMassMeter final : public MassMeter {
 public:
  void before(Kernels& kernels, std::span<const VectorView> q, ConstBlock x) override;
  void after(Kernels& kernels, ConstBlock x) override;

 private:
  std::vector<double> before_;  ///< only between before() and after()
  double size_ = 0;
};

}  // namespace hearsay::backend
