#include "hearsay/run/checkpoint_pace.h"

#include <gtest/gtest.h>

namespace hearsay::run {
namespace {

using std::chrono::milliseconds;

constexpr CheckpointPace::Clock::time_point at(int ms) {
  return CheckpointPace::Clock::time_point(milliseconds(ms));
}

TEST(CheckpointPace, LeavesASecondForShortRuns) {
  const CheckpointPace pace(at(50));
  EXPECT_FALSE(pace.due(at(1049)));
  EXPECT_TRUE(pace.due(at(1050)));
}

TEST(CheckpointPace, LeavesTenTimesAsLongForTheRun) {
  CheckpointPace pace(at(0));
  pace.saved(at(1000), at(1500));
  EXPECT_FALSE(pace.due(at(6499)));
  EXPECT_TRUE(pace.due(at(6500)));
  pace.saved(at(6500), at(6510));
  EXPECT_TRUE(pace.due(at(6610))) << "the disk is quick again";
}

}  // namespace
}  // namespace hearsay::run
