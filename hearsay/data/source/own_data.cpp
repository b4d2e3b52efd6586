#include "hearsay/data/source/own_data.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/data/image/pixels-inl.h"
#include "hearsay/data/targets.h"
#include "hearsay/data/validation.h"

namespace hearsay::data {

namespace {

constexpr std::uint64_t kTestSeed = 0;

/// Calls body(channel, scale p) for all entries p of the samples.
template <class Body>
void for_each_entry(const Dataset& dataset, const Samples& samples, Body body) {
  const std::size_t plane = dataset.stored_height() * dataset.stored_width();
  const auto scale = static_cast<double>(dataset.scale);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    with_entries(dataset, samples, i, [&](const auto* entries) {
      for (std::size_t c = 0; c < dataset.channels; ++c) {
        for (std::size_t k = 0; k < plane; ++k) {
          body(c, scale * static_cast<double>(entries[c * plane + k]));
        }
      }
    });
  }
}

void set_mean_and_deviation(Dataset& dataset) {
  const std::size_t plane = dataset.stored_height() * dataset.stored_width();
  const auto count = static_cast<double>(dataset.train.size() * plane);
  std::vector<double> mean(dataset.channels, 0.0);
  for_each_entry(dataset, dataset.train, [&](std::size_t c, double p) { mean[c] += p / count; });
  std::vector<double> variance(dataset.channels, 0.0);
  for_each_entry(dataset, dataset.train, [&](std::size_t c, double p) {
    variance[c] += (p - mean[c]) * (p - mean[c]) / count;
  });
  dataset.mean.assign(mean.begin(), mean.end());
  dataset.deviation.resize(dataset.channels);
  for (std::size_t c = 0; c < dataset.channels; ++c) {
    const double deviation = std::sqrt(variance[c]);
    dataset.deviation[c] = varies(deviation, mean[c]) ? static_cast<float>(deviation) : 1.0f;
  }
}

}  // namespace

std::size_t training_part(std::size_t samples, const Arguments& arguments) {
  const double kept = (1 - arguments.number_in_range("test")) * static_cast<double>(samples);
  return static_cast<std::size_t>(std::lround(kept));
}

void complete(Dataset& dataset, const Arguments& arguments) {
  if (dataset.test.size() == 0) {
    const double fraction = arguments.number_in_range("test");
    Split split = split_by_class(dataset.train, dataset.classes, fraction, kTestSeed);
    if (split.drawn.size() == 0) {
      const std::string among =
          dataset.classes == 0
              ? "is no sample"
              : fmt::format("in {} classes is no sample of any class", dataset.classes);
      throw InvalidArgument(
          fmt::format("[{}] {} of the {} samples {}; give a larger test fraction or more samples{}",
                      dataset.name, fraction, dataset.train.size(), among,
                      dataset.classes == 0 ? "" : ", or --task regression to predict numbers"));
    }
    dataset.train = std::move(split.kept);
    dataset.test = std::move(split.drawn);
  }
  set_mean_and_deviation(dataset);
  if (dataset.task() == Task::kRegression) set_target_scale(dataset);
}

}  // namespace hearsay::data
