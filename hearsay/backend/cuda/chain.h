#pragma once

#include <cstddef>
#include <memory>

#include "hearsay/backend/cuda/launch_recorder.h"
#include "hearsay/backend/kernels.h"

namespace hearsay::backend::cuda {

/// Consecutive formulas on the entries of blocks, which become one launch: it reads each array
/// once, applies the formulas in order, and writes once each array that they changed. Results are
/// those of the formulas one by one, bit for bit.
///
///   chain.axpby(lambda, x, 1, g);    g = g + lambda x
///   chain.axpby(1, g, beta, m);      m = beta m + g
///   chain.axpby(-lr, m, 1, x);       x = x - lr m       one launch: reads g, x, m, writes them
///
/// The launch is postponed until the launch recorder is asked for anything else
/// (LaunchRecorder::postpone), or until a formula comes that does not fit: of blocks of another
/// shape, of blocks that overlap with others in part, or one too many. Factors are in the staging
/// buffer, so other ones need no new capture.
class Chain {
 public:
  static constexpr std::size_t kMostArrays = 5;
  static constexpr std::size_t kMostFormulas = 12;

  explicit Chain(LaunchRecorder& recorder);
  ~Chain();
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  void fill(float value, Block y);                      ///< y = value
  void copy(ConstBlock x, Block y);                     ///< y = x
  void axpby(float a, ConstBlock x, float b, Block y);  ///< y = a x + b y, b y rounded first

  /// y is not written after all, if that is still postponed.
  void discard(Block y);

  /// Blocks of threads that a row of `dim` entries is shared among.
  static std::size_t pieces(std::size_t dim);

  /// Memory of the current stream.
  struct Scratch {
    double* partial;    ///< pieces(dim) per row
    unsigned* tickets;  ///< one per row, zero before and after
  };

  /// out[i] = |x_i|^2, in double, at most once per launch. The order of the sum depends on dim and
  /// on how the row lies in memory modulo 16 bytes. `out` is device memory or a result buffer.
  void squared_norms(ConstBlock x, const Scratch& scratch, double* out);

 private:
  struct Request;
  void add(const Request& request);
  void launch();

  struct Pending;
  LaunchRecorder& recorder_;
  std::unique_ptr<Pending> pending_;
};

}  // namespace hearsay::backend::cuda
