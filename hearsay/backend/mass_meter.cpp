#include "hearsay/backend/mass_meter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hearsay::backend {

void MassMeter::before(Kernels& kernels, std::span<const VectorView> q, ConstBlock x,
                       ConstBlock low, double keep) {
  before_ = mass(kernels, x, low);
  for (double& sum : before_) sum *= keep;
  std::vector<VectorView> rows;
  for (std::size_t i = 0; i < x.rows; ++i) rows.push_back({x.row(i).data()});
  const double of_x = magnitude(kernels, rows, x.dim);
  size_ = std::max(of_x, magnitude(kernels, q.first(x.rows), x.dim));
}

void MassMeter::after(Kernels& kernels, ConstBlock x, ConstBlock low) {
  const std::vector<double> now = mass(kernels, x, low);
  std::vector<double> changes((now.size() + kBlock - 1) / kBlock, 0.0);
  for (std::size_t k = 0; k < now.size(); ++k) {
    changes[k / kBlock] += std::abs(now[k] - before_[k]);
  }
  const double change = total(changes);
  if (size_ > 0) drift_ = std::max(drift_, change / size_);
  before_ = {};  // measured rounds are rare, and evaluations need the memory
}

std::vector<double> MassMeter::mass(Kernels& kernels, ConstBlock x, ConstBlock low) {
  std::vector<double> sums = column_sums(kernels, x);
  if (low.data == nullptr) return sums;
  const std::vector<double> low_sums = column_sums(kernels, low);
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += low_sums[k];
  return sums;
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

void Kernels::mix_compensated(const Mixing& mixing, std::span<const VectorView> q, float keep,
                              Block x, Block low) {
  if (meter_ != nullptr) meter_->before(*this, q, x, low, static_cast<double>(keep));
  mix_rows_compensated(mixing, q, keep, x, low);
  if (meter_ != nullptr) meter_->after(*this, x, low);
}

}  // namespace hearsay::backend
