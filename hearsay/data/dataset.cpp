#include "hearsay/data/dataset.h"

#include "hearsay/core/registry.h"
#include "hearsay/data/digits.h"

namespace hearsay::data {

namespace {

constexpr DatasetEntry kRegistry[] = {
    {"digits",
     "digits",
     "1,797 handwritten digits of 8x8 pixels, inside the binary",
     kDigitsSource,
     {},
     [](const Arguments&) { return make_digits(); }},
};

}  // namespace

std::span<const DatasetEntry> dataset_registry() { return kRegistry; }

std::shared_ptr<const Dataset> make_dataset(std::string_view spec) {
  const DatasetEntry& entry = find_entry(dataset_registry(), spec, "data");
  return entry.make(Arguments(spec, entry.parameters));
}

std::string default_augmentation(std::string_view data_spec) {
  for (const DatasetEntry& entry : dataset_registry()) {
    if (entry.name == spec_name(data_spec)) return std::string(entry.augmentation);
  }
  return "none";
}

}  // namespace hearsay::data
