#include "hearsay/backend/mass_meter.h"

#include <cmath>

namespace hearsay::backend {

void LocalMassMeter::before(Kernels& kernels, std::span<const VectorView> q, ConstBlock x) {
  before_.resize(x.dim);
  kernels.sum_rows(x, before_);
  std::vector<VectorView> rows;
  for (std::size_t i = 0; i < x.rows; ++i) rows.push_back({x.row(i).data()});
  size_ = std::max(kernels.magnitude(rows, x.dim), kernels.magnitude(q.first(x.rows), x.dim));
}

void LocalMassMeter::after(Kernels& kernels, ConstBlock x) {
  std::vector<double> now(x.dim);
  kernels.sum_rows(x, now);
  double change = 0;
  for (std::size_t k = 0; k < x.dim; ++k) change += std::abs(now[k] - before_[k]);
  measured(change, size_);
  before_ = {};  // measured rounds are rare, and evaluations want the memory
}

void Kernels::mix(const Mixing& mixing, std::span<const VectorView> q, Block x) {
  if (meter_ != nullptr) meter_->before(*this, q, x);
  mix_rows(mixing, q, x);
  if (meter_ != nullptr) meter_->after(*this, x);
}

}  // namespace hearsay::backend
