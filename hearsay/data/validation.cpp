#include "hearsay/data/validation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"

namespace hearsay::data {

namespace {

/// Streams of kPartition deal samples to peers; this is no peer's.
constexpr std::uint32_t kHeldOut = 0xffffffff;

template <class T>
void copy_entries(const std::vector<T>& from, std::size_t i, std::size_t entries,
                  std::vector<T>& to) {
  if (from.empty()) return;
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(i * entries);
  to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(entries));
}

}  // namespace

Split split_by_class(const Samples& from, std::size_t classes, double fraction,
                     std::uint64_t seed) {
  std::vector<std::vector<std::uint32_t>> members(classes);
  for (std::size_t i = 0; i < from.size(); ++i) {
    members[from.labels[i]].push_back(static_cast<std::uint32_t>(i));
  }
  Random random(seed, Purpose::kPartition, kHeldOut);
  std::vector<bool> is_drawn(from.size(), false);
  std::size_t total = 0;
  for (std::vector<std::uint32_t>& of_class : members) {
    const auto wanted =
        static_cast<std::size_t>(std::llround(fraction * static_cast<double>(of_class.size())));
    const std::size_t count = of_class.empty() ? 0 : std::min(wanted, of_class.size() - 1);
    for (std::size_t k = 0; k < count; ++k) {
      std::swap(of_class[k], of_class[k + random.below(of_class.size() - k)]);
      is_drawn[of_class[k]] = true;
    }
    total += count;
  }

  Split split;
  if (from.size() == 0) return split;
  const std::size_t entries = std::max(from.pixels.size(), from.values.size()) / from.size();
  const auto reserve = [&](Samples& part, std::size_t count) {
    part.labels.reserve(count);
    if (!from.pixels.empty()) part.pixels.reserve(count * entries);
    if (!from.values.empty()) part.values.reserve(count * entries);
  };
  reserve(split.drawn, total);
  reserve(split.kept, from.size() - total);
  for (std::size_t i = 0; i < from.size(); ++i) {
    Samples& part = is_drawn[i] ? split.drawn : split.kept;
    copy_entries(from.pixels, i, entries, part.pixels);
    copy_entries(from.values, i, entries, part.values);
    part.labels.push_back(from.labels[i]);
  }
  return split;
}

std::shared_ptr<const Dataset> hold_out(std::shared_ptr<const Dataset> dataset, double fraction,
                                        std::uint64_t seed) {
  if (!(fraction >= 0 && fraction < 1)) {
    throw InvalidArgument(fmt::format("[validation] must be in [0, 1), got {}", fraction));
  }
  if (fraction == 0) return dataset;
  Split split = split_by_class(dataset->train, dataset->classes, fraction, seed);
  if (split.drawn.size() == 0) {
    throw InvalidArgument(
        fmt::format("[validation] {} of {} training samples in {} classes is no sample of any "
                    "class; give a larger fraction",
                    fraction, dataset->train.size(), dataset->classes));
  }
  // Member by member: a copy of the whole would hold the training part once more.
  Dataset result{.name = dataset->name,
                 .channels = dataset->channels,
                 .height = dataset->height,
                 .width = dataset->width,
                 .margin = dataset->margin,
                 .classes = dataset->classes,
                 .scale = dataset->scale,
                 .mean = dataset->mean,
                 .deviation = dataset->deviation,
                 .train = std::move(split.kept),
                 .test = dataset->test,
                 .validation = std::move(split.drawn),
                 .class_names = dataset->class_names};
  return std::make_shared<const Dataset>(std::move(result));
}

}  // namespace hearsay::data
