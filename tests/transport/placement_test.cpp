#include "hearsay/transport/placement.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"

namespace hearsay::transport {
namespace {

TEST(Placement, GivesEveryPeerOneOwnerInEvenShares) {
  for (std::size_t peers = 1; peers < 40; ++peers) {
    for (std::size_t processes = 1; processes <= peers; ++processes) {
      const Placement placement{peers, processes};
      EXPECT_EQ(placement.first(0), 0u);
      EXPECT_EQ(placement.first(processes), peers);
      for (std::size_t p = 0; p < processes; ++p) {
        EXPECT_GE(placement.rows(p), peers / processes);
        EXPECT_LE(placement.rows(p), (peers + processes - 1) / processes);
        for (std::size_t i = placement.first(p); i < placement.first(p + 1); ++i) {
          EXPECT_EQ(placement.owner(i), p) << peers << " peers, peer " << i;
        }
      }
    }
  }
}

TEST(Placement, WantsAPeerForEveryProcess) {
  EXPECT_NO_THROW(check_placement({3, 3}));
  EXPECT_THROW(check_placement({0, 1}), InvalidArgument);
  EXPECT_THROW(check_placement({1, 0}), InvalidArgument);
  try {
    check_placement({4, 5});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "[transport] 5 processes cannot share 4 peers; start 4 or fewer");
  }
}

}  // namespace
}  // namespace hearsay::transport
