#include "hearsay/graph/picture.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "graph/matrices.h"

namespace hearsay::graph {
namespace {

TEST(Picture, IsTheMatrixOfASmallGraphWithOneRowAReceiver) {
  EXPECT_EQ(picture(weights_of("sparse-push:a", 4)),
            "0.50    .    . 0.33\n"
            "0.50 0.67    .    .\n"
            "   . 0.33 0.50    .\n"
            "   .    . 0.50 0.67\n");
  EXPECT_EQ(picture(Weights(1, {})), "1.00\n");
  EXPECT_EQ(picture(Weights()), "");
}

TEST(Picture, IsASketchOfALargeGraph) {
  // Each character covers one sender and two receivers: '@' both, '+' one of them.
  const std::string ring = picture(weights_of("ring", 64));
  EXPECT_EQ(std::ranges::count(ring, '\n'), 32);
  EXPECT_EQ(ring.substr(0, 65), "@@+" + std::string(60, ' ') + "+\n");
  EXPECT_EQ(ring.substr(65, 65), " +@@+" + std::string(59, ' ') + "\n");
}

TEST(Picture, IsAtMost64ColumnsWideAndDarkWhereDense) {
  const std::string complete = picture(weights_of("complete", 200));
  EXPECT_EQ(complete.size(), 32u * 65);
  EXPECT_EQ(std::ranges::count(complete, '@'), 32 * 64);
  const std::string sparse = picture(weights_of("ring", 1000));
  EXPECT_GT(std::ranges::count(sparse, ' '), 1900);
  EXPECT_EQ(std::ranges::count(sparse, '@'), 0);
}

}  // namespace
}  // namespace hearsay::graph
