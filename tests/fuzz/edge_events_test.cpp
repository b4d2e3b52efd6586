#include "fuzz/edge_events.h"

#include <gtest/gtest.h>

#include "hearsay/core/random.h"

namespace hearsay::fuzz {
namespace {

TEST(EdgeEvents, OfAnyKindCountNothingTwice) {
  Random random(1, Purpose::kTest);
  int busy = 0;
  for (int input = 0; input < 20'000; ++input) {
    Bytes bytes(20 + random.below(400));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
    busy += edge_events(bytes);
  }
  EXPECT_GT(busy, 1000);
}

}  // namespace
}  // namespace hearsay::fuzz
