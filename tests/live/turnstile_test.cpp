#include "hearsay/live/turnstile.h"

#include <gtest/gtest.h>

namespace hearsay::live {
namespace {

using std::chrono::milliseconds;

TEST(Turnstile, LetsABurstThroughAndThenSoManyASecond) {
  Turnstile turnstile(10, 3);
  const Turnstile::Clock::time_point begin{std::chrono::hours(1)};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(turnstile.pass(begin).count(), 0) << i;
  for (int i = 1; i < 5; ++i) EXPECT_NEAR(turnstile.pass(begin).count(), 0.1 * i, 1e-9) << i;
}

TEST(Turnstile, WhoComesAtTheRateNeverWaits) {
  Turnstile turnstile(10, 1);
  Turnstile::Clock::time_point now{std::chrono::hours(1)};
  for (int i = 0; i < 100; ++i) {
    EXPECT_NEAR(turnstile.pass(now).count(), 0, 1e-9) << i;
    now += milliseconds(100);
  }
}

TEST(Turnstile, ARestIsWorthNoMoreThanABurst) {
  Turnstile turnstile(10, 2);
  Turnstile::Clock::time_point now{std::chrono::hours(1)};
  turnstile.pass(now);
  now += std::chrono::hours(1);
  EXPECT_EQ(turnstile.pass(now).count(), 0);
  EXPECT_EQ(turnstile.pass(now).count(), 0);
  EXPECT_GT(turnstile.pass(now).count(), 0);
}

}  // namespace
}  // namespace hearsay::live
