#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hearsay/backend/kernels.h"

/// Two graphs for the tests of Kernels::mix.
namespace hearsay::backend {

/// A graph in which row i receives from up to 128 rows before it, so that the rounding of float
/// sums stays small, and from two remote vectors.
struct Neighbourhood {
  std::vector<std::uint32_t> begin{0}, source;
  std::vector<float> weight;
  std::vector<double> debit;

  explicit Neighbourhood(std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < rows + 2; ++j) {
        if (j < rows && (j >= i || j + 128 < i)) continue;
        source.push_back(static_cast<std::uint32_t>(j));
        weight.push_back(static_cast<float>(j + 1) / static_cast<float>((rows + 2) * (rows + 2)));
      }
      begin.push_back(static_cast<std::uint32_t>(source.size()));
      debit.push_back(static_cast<double>(i) / static_cast<double>(rows));
    }
  }
  Mixing mixing() const { return {begin, source, weight, debit}; }
};

/// A ring with weights that are not exact in floats; what is sent equals what is received.
struct Ring {
  std::vector<std::uint32_t> begin{0}, source;
  std::vector<float> weight;
  std::vector<double> debit;

  explicit Ring(std::size_t rows) : debit(rows, 2 * static_cast<double>(1.0f / 3)) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j : {(i + 1) % rows, (i + rows - 1) % rows}) {
        source.push_back(static_cast<std::uint32_t>(j));
        weight.push_back(1.0f / 3);
      }
      begin.push_back(static_cast<std::uint32_t>(source.size()));
    }
  }
  Mixing mixing() const { return {begin, source, weight, debit}; }
};

}  // namespace hearsay::backend
