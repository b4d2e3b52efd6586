#include "hearsay/sweep/sweep_figures.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hearsay::sweep {
namespace {

TEST(FigureKeys, AreThoseOfALineAndTheirRatios) {
  const std::vector<std::string> keys = figure_keys();
  for (const char* key :
       {"accuracy_mean", "divergence_per_dim", "distance_to_optimum", "bytes_total",
        "compression_factor", "paper_bytes_total", "seconds_per_round", "peak_rss_bytes"}) {
    EXPECT_EQ(std::ranges::count(keys, key), 1) << key;
  }
  EXPECT_EQ(std::ranges::count(keys, "accuracy"), 0) << "a list";
}

}  // namespace
}  // namespace hearsay::sweep
