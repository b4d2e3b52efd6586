#include "hearsay/graph/spectrum/fourier.h"

#include <algorithm>
#include <bit>
#include <numbers>
#include <utility>

namespace hearsay::graph {

namespace {

using Complex = Fourier::Complex;

Complex root_of_unity(double part) { return std::polar(1.0, -2 * std::numbers::pi * part); }

/// Cooley-Tukey in place, for a power of two; roots[k] = exp(-2 pi i k / size).
void transform_power_of_two(std::span<Complex> x, std::span<const Complex> roots) {
  const std::size_t size = x.size();
  for (std::size_t i = 1, j = 0; i < size; ++i) {  // bit reversal
    std::size_t bit = size >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (std::size_t half = 1; half < size; half *= 2) {
    const std::size_t step = size / (2 * half);
    for (std::size_t begin = 0; begin < size; begin += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const Complex low = x[begin + k], root = roots[k * step], other = x[begin + half + k];
        // Not by operator*, which looks after infinities.
        const Complex high(root.real() * other.real() - root.imag() * other.imag(),
                           root.real() * other.imag() + root.imag() * other.real());
        x[begin + k] = low + high;
        x[begin + half + k] = low - high;
      }
    }
  }
}

}  // namespace

Fourier::Fourier(std::size_t n) : n_(n) {
  const std::size_t size = std::has_single_bit(n) ? n : std::bit_ceil(2 * n);
  for (std::size_t k = 0; k < size / 2; ++k) {
    roots_.push_back(root_of_unity(static_cast<double>(k) / static_cast<double>(size)));
  }
  if (size == n) return;
  for (std::size_t k = 0; k < n; ++k) {  // k k / 2n turns, without the whole ones
    chirp_.push_back(
        root_of_unity(static_cast<double>(k * k % (2 * n)) / static_cast<double>(2 * n)));
  }
  kernel_.resize(size);
  for (std::size_t k = 0; k < n; ++k) {
    kernel_[k] = kernel_[(size - k) % size] = std::conj(chirp_[k]);
  }
  transform_power_of_two(kernel_, roots_);
}

/// padded_ becomes its cyclic convolution with the conjugate chirp, times its length, conjugated.
void Fourier::convolve() {
  transform_power_of_two(padded_, roots_);
  for (std::size_t k = 0; k < padded_.size(); ++k) padded_[k] = std::conj(padded_[k] * kernel_[k]);
  transform_power_of_two(padded_, roots_);
}

void Fourier::transform(std::span<Complex> x) {
  if (chirp_.empty()) return transform_power_of_two(x, roots_);
  padded_.assign(kernel_.size(), 0);
  for (std::size_t k = 0; k < n_; ++k) padded_[k] = x[k] * chirp_[k];
  convolve();
  const auto size = static_cast<double>(padded_.size());
  for (std::size_t f = 0; f < n_; ++f) x[f] = std::conj(padded_[f]) / size * chirp_[f];
}

}  // namespace hearsay::graph
