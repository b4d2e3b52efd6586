#include "hearsay/data/targets.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::data {

namespace {

struct Moments {
  std::vector<double> mean, squares;  ///< squares: sums of (t - mean)^2, 0 if all t are the same
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
  for (std::size_t k = 0; k < width && samples.size() > 0; ++k) {  // rounding of the mean
    bool same = true;
    for (std::size_t i = k; i < t.size(); i += width) same = same && t[i] == t[k];
    if (same) found.squares[k] = 0;
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
    if (deviation > 0 && !varies(deviation, found.mean[k])) {
      throw InvalidArgument(fmt::format(
          "[{}] target {} of a sample varies too little for its size: its deviation is {:.3g} and "
          "its mean {:.3g}, which 32-bit floats hardly tell apart; subtract an offset, or scale "
          "it up",
          dataset.name, k, deviation, found.mean[k]));
    }
    dataset.target_deviation.push_back(deviation > 0 ? static_cast<float>(deviation) : 1.0f);
  }
}

void read_targets(const Dataset& dataset, const Samples& from, std::size_t i,
                  std::span<float> out) {
  assert(out.size() == from.targets_each && i < from.size());
  const float* t = from.targets.as<float>().data() + i * from.targets_each;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double off = static_cast<double>(t[k]) - static_cast<double>(dataset.target_mean[k]);
    out[k] = static_cast<float>(off / static_cast<double>(dataset.target_deviation[k]));
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
