#include "hearsay/backend/mass_meter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hearsay::backend {

void MassMeter::before(Kernels& kernels, std::span<const VectorView> q, ConstBlock x) {
  before_ = column_sums(kernels, x);
  std::vector<VectorView> rows;
  for (std::size_t i = 0; i < x.rows; ++i) rows.push_back({x.row(i).data()});
  const double of_x = magnitude(kernels, rows, x.dim);
  size_ = std::max(of_x, magnitude(kernels, q.first(x.rows), x.dim));
}

void MassMeter::after(Kernels& kernels, ConstBlock x) {
  const std::vector<double> now = column_sums(kernels, x);
  std::vector<double> changes((now.size() + kBlock - 1) / kBlock, 0.0);
  for (std::size_t k = 0; k < now.size(); ++k) {
    changes[k / kBlock] += std::abs(now[k] - before_[k]);
  }
  const double change = total(changes);
  if (size_ > 0) drift_ = std::max(drift_, change / size_);
  before_ = {};  // measured rounds are rare, and evaluations want the memory
}

std::vector<double> MassMeter::column_sums(Kernels& kernels, ConstBlock x) {
  std::vector<double> sums(x.dim);
  kernels.sum_rows(x, sums);
  return sums;
}

double MassMeter::magnitude(Kernels& kernels, std::span<const VectorView> rows, std::size_t dim) {
  return kernels.magnitude(rows, dim);
}

double MassMeter::total(std::span<const double> blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), 0.0);
}

void Kernels::mix(const Mixing& mixing, std::span<const VectorView> q, Block x) {
  if (meter_ != nullptr) meter_->before(*this, q, x);
  mix_rows(mixing, q, x);
  if (meter_ != nullptr) meter_->after(*this, x);
}

}  // namespace hearsay::backend
