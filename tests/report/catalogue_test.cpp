#include "hearsay/report/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/core/error.h"
#include "hearsay/data/dataset.h"
#include "hearsay/gossip/link.h"
#include "hearsay/train/run_options.h"

namespace hearsay::report {
namespace {

TEST(Catalogue, OfAnUnknownFamilyNamesThemAll) {
  try {
    catalogue("optimisers");
    FAIL() << "there is no such family";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(
        error.what(),
        "[list] no list is named 'optimisers' (did you mean 'optimizers'?); there are "
        "graphs, compressors, algorithms, models, data, losses, partitions, augmentations, "
        "optimizers, rates, robust, lies, devices, transports, energy-models");
  }
}

TEST(ConfigReference, HasARowForEverySettingAndKey) {
  const std::string page = config_reference();
  for (const train::Option& option : train::options()) {
    EXPECT_NE(page.find("\n| `" + std::string(option.key) + "` | "), std::string::npos);
  }
  for (const Parameter& parameter : gossip::Link::parameters()) {
    EXPECT_NE(page.find("\n| | `" + std::string(parameter.key) + "` | "), std::string::npos);
  }
  for (const algorithm::Entry& entry : algorithm::registry()) {
    EXPECT_NE(page.find("\n| `" + std::string(entry.name) + "` | | | "), std::string::npos);
  }
}

TEST(Catalogue, TellsTheDefaultsOfADataset) {
  for (const data::DatasetEntry& entry : data::dataset_registry()) {
    const train::RunOptions options = train::resolve({.data = std::string(entry.example)});
    const std::string text =
        fmt::format("\n  {:<22} {}\n      by default: --model {} --augment {} --epochs {}\n",
                    entry.name, entry.summary, options.model, options.augment,
                    entry.training_samples == nullptr ? options.epochs : entry.epochs);
    EXPECT_NE(catalogue("data").find(text), std::string::npos) << text;
  }
}

/// An unescaped '|' inside a cell would begin another: every row has four cells.
TEST(ConfigReference, EscapesBarsInsideCells) {
  std::istringstream page(config_reference());
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with('|')) continue;
    std::size_t bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    }
    EXPECT_EQ(bars, 5u) << line;
  }
}

}  // namespace
}  // namespace hearsay::report
