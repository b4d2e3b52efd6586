#pragma once

#include <vector>

#include "hearsay/backend/kernels.h"

namespace hearsay::backend {

/// How well mixing conserves mass: |sum_i x_i(after) - sum_i x_i(before)|_1 over the
/// larger of sum_i |x_i(before)|_1 and sum_i |q_i|_1, for each measured `mix`, without local steps.
/// A few times 1e-8 is rounding; more is a bug.
///
/// Sums run over peers ascending, and over columns in blocks, so that they are bitwise the same on
/// every device, and if peers or columns are distributed over processes, whose sums a derived class
/// combines.
class MassMeter {
 public:
  virtual ~MassMeter() = default;

  /// The state before mixing is `keep` times x, or times x + low if `low` is not empty.
  void before(Kernels& kernels, std::span<const VectorView> q, ConstBlock x, ConstBlock low = {},
              double keep = 1);
  void after(Kernels& kernels, ConstBlock x, ConstBlock low = {});

  /// The largest drift of any measured mix since the last reset.
  double drift() const { return drift_; }
  void reset(double drift = 0) { drift_ = drift; }

 protected:
  /// Keep the column sums over all peers of keep (x + low).
  virtual void keep_mass(Kernels& kernels, ConstBlock x, ConstBlock low, double keep);
  /// The sum over columns of |column sum of x + low - what was kept|.
  virtual double mass_change(Kernels& kernels, ConstBlock x, ConstBlock low);
  /// The sum of the magnitudes of all entries, over all peers.
  virtual double magnitude(Kernels& kernels, std::span<const VectorView> rows, std::size_t dim);

 private:
  double size_ = 0;
  double drift_ = 0;
};

}  // namespace hearsay::backend
