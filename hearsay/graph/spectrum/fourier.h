#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace hearsay::graph {

/// The discrete Fourier transform of any length n, in O(n log n): y[f] = sum_k x[k] exp(-2 pi i k f
/// / n). Lengths that are no powers of two by Bluestein's convolution.
class Fourier {
 public:
  using Complex = std::complex<double>;

  explicit Fourier(std::size_t n);

  /// In place; x has n entries.
  void transform(std::span<Complex> x);

 private:
  void convolve();

  std::size_t n_;
  std::vector<Complex> chirp_;   ///< [k]: exp(-pi i k k / n)
  std::vector<Complex> kernel_;  ///< the transform of the conjugate chirp, wrapped around
  std::vector<Complex> roots_;   ///< of unity, of the padded length
  std::vector<Complex> padded_;  ///< buffer
};

}  // namespace hearsay::graph
