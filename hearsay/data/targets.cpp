#include "hearsay/data/targets.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace hearsay::data {

namespace {

/// A deviation below this fraction of the mean is rounding error of the floats.
constexpr double kLeastVariation = 1e-6;

struct Moments {
  std::vector<double> mean, squares;  ///< squares: sums of (t - mean)^2
};

Moments moments_of(const Samples& samples) {
  const std::size_t width = samples.targets_each;
  const std::vector<float>& t = samples.targets.as<float>();
  const auto count = static_cast<double>(samples.size());
  Moments found{std::vector<double>(width, 0.0), std::vector<double>(width, 0.0)};
  for (std::size_t i = 0; i < t.size(); ++i) {
    found.mean[i % width] += static_cast<double>(t[i]) / count;
  }
  for (std::size_t i = 0; i < t.size(); ++i) {
    const double off = static_cast<double>(t[i]) - found.mean[i % width];
    found.squares[i % width] += off * off;
  }
  return found;
}

}  // namespace

void set_target_scale(Dataset& dataset) {
  const Moments found = moments_of(dataset.train);
  const auto count = static_cast<double>(dataset.train.size());
  dataset.target_mean.assign(found.mean.begin(), found.mean.end());
  dataset.target_deviation.clear();
  for (std::size_t k = 0; k < found.mean.size(); ++k) {
    const double deviation = std::sqrt(found.squares[k] / count);
    const bool varies =
        static_cast<float>(deviation) > 0 && deviation > kLeastVariation * std::abs(found.mean[k]);
    dataset.target_deviation.push_back(varies ? static_cast<float>(deviation) : 1.0f);
  }
}

void read_targets(const Dataset& dataset, const Samples& from, std::size_t i,
                  std::span<float> out) {
  assert(out.size() == from.targets_each && i < from.size());
  const float* t = from.targets.as<float>().data() + i * from.targets_each;
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k] = (t[k] - dataset.target_mean[k]) / dataset.target_deviation[k];
  }
}

std::vector<double> squared_deviations(const Samples& samples) {
  return moments_of(samples).squares;
}

std::vector<std::uint16_t> target_tenths(const Samples& samples) {
  const std::vector<float>& t = samples.targets.as<float>();
  std::vector<float> sorted;
  for (std::size_t i = 0; i < samples.size(); ++i) sorted.push_back(t[i * samples.targets_each]);
  std::ranges::sort(sorted);
  std::vector<std::uint16_t> tenths;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto smaller = static_cast<std::size_t>(
        std::ranges::lower_bound(sorted, t[i * samples.targets_each]) - sorted.begin());
    tenths.push_back(static_cast<std::uint16_t>(kTenths * smaller / samples.size()));
  }
  return tenths;
}

}  // namespace hearsay::data
