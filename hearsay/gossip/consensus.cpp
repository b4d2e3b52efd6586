#include <algorithm>
#include <cmath>

#include "hearsay/gossip/host_rows.h"
#include "hearsay/gossip/round_driver.h"

/// RoundDriver's averaged model and consensus distance.
namespace hearsay::gossip {
namespace {

double distance(std::span<const float> a, std::span<const float> b) {
  double square = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    square += std::pow(static_cast<double>(a[k]) - static_cast<double>(b[k]), 2);
  }
  return std::sqrt(square);
}

}  // namespace

std::size_t RoundDriver::models_at_once() const {
  constexpr std::size_t kMostBytes = 256 << 20;
  const std::size_t bytes = std::max<std::size_t>(1, layout().dim() * sizeof(float));
  return std::clamp<std::size_t>(kMostBytes / bytes, 1, machine_->pool().threads());
}

std::vector<float> RoundDriver::average_model() const {
  std::vector<float> mean(layout().dim());
  if (!group().alone()) {
    const HostRows models(kernels_, this->models());
    group().collectives().mean(placement_, models.floats(), mean);
    return mean;
  }
  if (liars_) return average_of_honest();
  const auto n = static_cast<double>(peers());
  std::vector<double> sums(std::min<std::size_t>(mean.size(), 1 << 16));
  for (std::size_t begin = 0; begin < mean.size(); begin += sums.size()) {
    const std::size_t count = std::min(sums.size(), mean.size() - begin);
    kernels_.sum_rows(models(), begin, std::span(sums).first(count));
    for (std::size_t k = 0; k < count; ++k) mean[begin + k] = static_cast<float>(sums[k] / n);
  }
  return mean;
}

std::vector<float> RoundDriver::average_of_honest() const {
  std::vector<double> sum(layout().dim(), 0.0);
  for (std::size_t i = 0; i < rows_; ++i) {
    if (liars_->lies(static_cast<std::uint32_t>(i))) continue;
    const std::span<const float> model = models().row(i);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += static_cast<double>(model[k]);
  }
  const auto honest = static_cast<double>(peers() - liars_->peers().size());
  std::vector<float> mean(sum.size());
  std::ranges::transform(sum, mean.begin(),
                         [&](double value) { return static_cast<float>(value / honest); });
  return mean;
}

RoundDriver::Consensus RoundDriver::consensus() const {
  if (!kernels_.on_host() && group().alone()) return consensus_on_device();
  Consensus result{average_model(), std::vector<double>(rows_)};
  const std::size_t at_once = models_at_once();  // models on a device are copied to the host
  for (std::size_t begin = 0; begin < rows_; begin += at_once) {
    const std::size_t count = std::min(at_once, rows_ - begin);
    const HostRows rows(kernels_, {models().row(begin).data(), count, layout().dim()});
    machine_->pool().run(count, [&](std::size_t i) {
      result.distances[begin + i] = distance(rows.row(i), result.average);
    });
  }
  return result;
}

/// The same without moving models: the gradient's block is free between rounds. Differences are
/// rounded to float, which is exact for entries within a factor of two of their mean.
RoundDriver::Consensus RoundDriver::consensus_on_device() const {
  kernels_.copy(models(), gradient_);
  kernels_.mean_rows(gradient_);
  Consensus result{std::vector<float>(layout().dim()), {}};
  kernels_.download(gradient_, 0, result.average);
  kernels_.axpy(-1.0f, models(), gradient_);
  const std::span<double> squares = norms_of(gradient_);
  machine_->drain();
  for (const double square : squares) result.distances.push_back(std::sqrt(square));
  return result;
}

double RoundDriver::consensus_distance() {
  std::vector<double> squares = consensus().distances;
  for (double& value : squares) value *= value;
  return std::sqrt(everybody_.mean(squares));
}

}  // namespace hearsay::gossip
