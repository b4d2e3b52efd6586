#include "hearsay/data/validation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"

namespace hearsay::data {

namespace {

/// The streams of kPartition deal samples to peers; this index belongs to no peer.
constexpr std::uint32_t kHeldOut = 0xffffffff;

}  // namespace

Split split_by_class(const Samples& from, std::size_t classes, double fraction,
                     std::uint64_t seed) {
  std::vector<std::vector<std::uint32_t>> members(std::max<std::size_t>(classes, 1));
  for (std::size_t i = 0; i < from.size(); ++i) {
    members[classes == 0 ? 0 : from.labels()[i]].push_back(static_cast<std::uint32_t>(i));
  }
  Random random(seed, Purpose::kPartition, kHeldOut);
  std::vector<bool> is_drawn(from.size(), false);
  for (std::vector<std::uint32_t>& of_class : members) {
    const auto wanted =
        static_cast<std::size_t>(std::llround(fraction * static_cast<double>(of_class.size())));
    const std::size_t count = of_class.empty() ? 0 : std::min(wanted, of_class.size() - 1);
    for (std::size_t k = 0; k < count; ++k) {
      std::swap(of_class[k], of_class[k + random.below(of_class.size() - k)]);
      is_drawn[of_class[k]] = true;
    }
  }

  Split split{.kept = {}, .drawn = subset(from, is_drawn)};
  is_drawn.flip();
  split.kept = subset(from, is_drawn);
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
    const std::string among =
        dataset->classes == 0
            ? "is no sample"
            : fmt::format("in {} classes is no sample of any class", dataset->classes);
    throw InvalidArgument(
        fmt::format("[validation] {} of {} training samples {}; give a larger fraction", fraction,
                    dataset->train.size(), among));
  }
  return with_samples(*dataset, std::move(split.kept), std::move(split.drawn));
}

}  // namespace hearsay::data
