#include "hearsay/data/share.h"

#include <iterator>
#include <utility>

namespace hearsay::data {

namespace {

/// Replaces indices into all samples by indices into the chosen ones.
void renumber(const std::vector<std::uint32_t>& place, std::vector<std::uint32_t>& samples) {
  for (std::uint32_t& sample : samples) sample = place[sample];
}

}  // namespace

Share take_share(std::shared_ptr<const Dataset> dataset, Partition parts, std::size_t first,
                 std::size_t rows, std::vector<std::uint32_t> extra) {
  Share share{.dataset = std::move(dataset),
              .parts = {},
              .extra = std::move(extra),
              .class_counts = {},
              .whole_sha256 = {}};
  const Dataset& whole = *share.dataset;
  if (whole.task() == Task::kClassification) {
    share.class_counts = class_counts(parts, whole.train.labels(), whole.classes);
  }
  if (rows == parts.size()) {
    share.parts = std::move(parts);
    return share;
  }
  share.whole_sha256 = sha256_of(whole);
  const auto own = parts.begin() + static_cast<std::ptrdiff_t>(first);
  share.parts.assign(std::make_move_iterator(own),
                     std::make_move_iterator(own + static_cast<std::ptrdiff_t>(rows)));

  std::vector<bool> chosen(whole.train.size(), false);
  for (const std::vector<std::uint32_t>& part : share.parts) {
    for (std::uint32_t sample : part) chosen[sample] = true;
  }
  for (std::uint32_t sample : share.extra) chosen[sample] = true;
  std::vector<std::uint32_t> place(whole.train.size());
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < place.size(); ++i) {
    place[i] = before;
    before += chosen[i];
  }
  for (std::vector<std::uint32_t>& part : share.parts) renumber(place, part);
  renumber(place, share.extra);
  share.dataset = with_samples(whole, subset(whole.train, chosen), whole.validation);
  return share;
}

}  // namespace hearsay::data
