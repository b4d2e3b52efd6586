#include "hearsay/transport/cores.h"

#include <gtest/gtest.h>

namespace hearsay::transport {
namespace {

cpu_set_t cores(std::initializer_list<int> numbers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int number : numbers) CPU_SET(number, &set);
  return set;
}

TEST(FairShare, OfAProcessAloneIsAllThatItMayUse) {
  EXPECT_EQ(fair_share({cores({0, 1, 5})}, 0), 3.0);
  EXPECT_GE(fair_share({allowed_cores()}, 0), 1.0);
}

TEST(FairShare, OfProcessesThatAreBoundApartIsWhatEachIsBoundTo) {
  EXPECT_EQ(fair_share({cores({0, 1, 2}), cores({3})}, 0), 3.0);
  EXPECT_EQ(fair_share({cores({0, 1, 2}), cores({3})}, 1), 1.0);
}

/// Four processes bound to two sockets, as by mpirun.
TEST(FairShare, OfProcessesThatAreBoundTogetherIsSharedOut) {
  const cpu_set_t one = cores({0, 1, 2, 3}), two = cores({4, 5, 6, 7});
  for (std::size_t p = 0; p < 4; ++p) EXPECT_EQ(fair_share({one, one, two, two}, p), 2.0);
  EXPECT_EQ(fair_share({one, one, one}, 1), 4.0 / 3);
}

}  // namespace
}  // namespace hearsay::transport
