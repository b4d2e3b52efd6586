#include "hearsay/backend/mass_meter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hearsay::backend {

void MassMeter::before(Kernels& kernels, std::span<const VectorView> q, ConstBlock x,
                       ConstBlock low, double keep) {
  keep_mass(kernels, x, low, keep);
  std::vector<VectorView> rows;
  for (std::size_t i = 0; i < x.rows; ++i) rows.push_back({x.row(i).data()});
  const double of_x = magnitude(kernels, rows, x.dim);
  size_ = std::max(of_x, magnitude(kernels, q.first(x.rows), x.dim));
}

void MassMeter::after(Kernels& kernels, ConstBlock x, ConstBlock low) {
  const double change = mass_change(kernels, x, low);
  if (size_ > 0) drift_ = std::max(drift_, change / size_);
}

void MassMeter::keep_mass(Kernels& kernels, ConstBlock x, ConstBlock low, double keep) {
  kernels.keep_mass(x, low, keep);
}

double MassMeter::mass_change(Kernels& kernels, ConstBlock x, ConstBlock low) {
  const std::vector<double> blocks = kernels.mass_change(x, low);
  return std::accumulate(blocks.begin(), blocks.end(), 0.0);
}

double MassMeter::magnitude(Kernels& kernels, std::span<const VectorView> rows, std::size_t dim) {
  return kernels.magnitude(rows, dim);
}

/// Columns whose sums are computed together: a model's would take twice its memory.
constexpr std::size_t kPiece = 16 * kMassBlock;

std::vector<double> block_changes(std::span<const double> before, std::span<const double> after) {
  std::vector<double> changes((after.size() + kMassBlock - 1) / kMassBlock, 0.0);
  for (std::size_t k = 0; k < after.size(); ++k) {
    changes[k / kMassBlock] += std::abs(after[k] - before[k]);
  }
  return changes;
}

void Kernels::mass_of(ConstBlock x, ConstBlock low, std::size_t begin, std::span<double> sums) {
  sum_rows(x, begin, sums);
  if (low.data == nullptr) return;
  std::vector<double> low_sums(sums.size());
  sum_rows(low, begin, low_sums);
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += low_sums[k];
}

void Kernels::keep_mass(ConstBlock x, ConstBlock low, double keep) {
  kept_mass_.resize(x.dim);
  for (std::size_t begin = 0; begin < x.dim; begin += kPiece) {
    mass_of(x, low, begin, std::span(kept_mass_).subspan(begin, std::min(kPiece, x.dim - begin)));
  }
  for (double& sum : kept_mass_) sum *= keep;
}

std::vector<double> Kernels::mass_change(ConstBlock x, ConstBlock low) {
  std::vector<double> changes, sums(std::min(x.dim, kPiece));
  for (std::size_t begin = 0; begin < x.dim; begin += sums.size()) {
    const auto piece = std::span(sums).first(std::min(sums.size(), x.dim - begin));
    mass_of(x, low, begin, piece);
    const auto kept = std::span(kept_mass_).subspan(begin, piece.size());
    for (const double change : block_changes(kept, piece)) changes.push_back(change);
  }
  kept_mass_ = std::vector<double>();  // measured rounds are rare; evaluations need the memory
  return changes;
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
