#pragma once

#include <vector>

#include "hearsay/backend/kernels.h"

namespace hearsay::backend {

/// How well mixing conserves mass: |sum_i x_i(after) - sum_i x_i(before)|_1 over |sum_i
/// |x_i(before)||_1 for each measured `mix`, local steps excluded. A few units of 1e-8 is rounding;
/// more is a defect.
///
/// Sums run over peers ascending, and over columns in blocks, so that they have the same bits where
/// peers, or columns, are spread over processes: those that a derived class adds up with others.
class MassMeter {
 public:
  virtual ~MassMeter() = default;

  /// What is mixed is `keep` times x, or x + low if `low` is not empty.
  void before(Kernels& kernels, std::span<const VectorView> q, ConstBlock x, ConstBlock low = {},
              double keep = 1);
  void after(Kernels& kernels, ConstBlock x, ConstBlock low = {});

  /// The largest drift of a measured mix since the last reset.
  double drift() const { return drift_; }
  void reset(double drift = 0) { drift_ = drift; }

  static constexpr std::size_t kBlock = 4096;

 protected:
  /// Sums over all peers of columns: all of them, or a share that begins with a block.
  virtual std::vector<double> column_sums(Kernels& kernels, ConstBlock x);
  /// The sum of all entries' magnitudes, over all peers.
  virtual double magnitude(Kernels& kernels, std::span<const VectorView> rows, std::size_t dim);
  /// The sum of one value a block of those columns, over all of them.
  virtual double total(std::span<const double> blocks);

 private:
  std::vector<double> mass(Kernels& kernels, ConstBlock x, ConstBlock low);

  std::vector<double> before_;  ///< only between before() and after()
  double size_ = 0;
  double drift_ = 0;
};

}  // namespace hearsay::backend
