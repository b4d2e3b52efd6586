#include "hearsay/backend/mass_meter.h"

#include <cmath>

namespace hearsay::backend {

void MassMeter::before(Kernels& kernels, ConstBlock x) {
  before_.resize(x.dim);
  after_.resize(x.dim);
  size_.resize(x.dim);
  kernels.sum_rows(x, before_, size_);
}

void MassMeter::after(Kernels& kernels, ConstBlock x) {
  double size = 0, change = 0;
  for (double magnitude : size_) size += magnitude;
  kernels.sum_rows(x, after_, size_);
  for (std::size_t k = 0; k < x.dim; ++k) change += std::abs(after_[k] - before_[k]);
  if (size > 0) drift_ = std::max(drift_, change / size);
}

void Kernels::mix(const Mixing& mixing, std::span<const VectorView> q, Block x) {
  if (meter_ != nullptr) meter_->before(*this, x);
  mix_rows(mixing, q, x);
  if (meter_ != nullptr) meter_->after(*this, x);
}

}  // namespace hearsay::backend
