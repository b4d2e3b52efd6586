#include "hearsay/transport/pool.h"

#include <set>

#include <gtest/gtest.h>

namespace hearsay::transport {
namespace {

TEST(Pool, KeepsWhatIsInUseApart) {
  Pool pool;
  const auto a = pool.take(100, 1), b = pool.take(100, 1), c = pool.take(0, 1);
  EXPECT_EQ(a.size(), 100u);
  EXPECT_EQ(c.size(), 0u);
  EXPECT_NE(a.data(), b.data());
  pool.reuse(1);  // no buffer is older
  EXPECT_NE(pool.take(100, 1).data(), a.data());
}

TEST(Pool, UsesTheSameMemoryRoundAfterRound) {
  Pool pool;
  std::set<const std::uint8_t*> seen;
  for (std::uint32_t round = 0; round < 50; ++round) {
    pool.reuse(round);
    for (const std::size_t bytes : {1000 + round, 5000 - round}) {
      seen.insert(pool.take(bytes, round).data());
    }
  }
  EXPECT_EQ(seen.size(), 2u);
}

}  // namespace
}  // namespace hearsay::transport
