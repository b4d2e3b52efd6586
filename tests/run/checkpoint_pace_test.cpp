#include "hearsay/run/checkpoint_pace.h"

#include <gtest/gtest.h>

namespace hearsay::run {
namespace {

using std::chrono::milliseconds;

constexpr CheckpointPace::Clock::time_point at(int ms) {
  return CheckpointPace::Clock::time_point(milliseconds(ms));
}

TEST(CheckpointPace, SavesAtOnceAndAsOftenAsAskedIfThatIsQuick) {
  CheckpointPace pace;
  EXPECT_TRUE(pace.due(at(0)));
  pace.saved(at(0), at(99));
  EXPECT_TRUE(pace.due(at(99)));
}

TEST(CheckpointPace, LeavesTenTimesAsLongForTheRun) {
  CheckpointPace pace;
  pace.saved(at(0), at(500));
  EXPECT_FALSE(pace.due(at(5499)));
  EXPECT_TRUE(pace.due(at(5500)));
  pace.saved(at(5500), at(5550));
  EXPECT_TRUE(pace.due(at(5551))) << "the disk is quick again";
}

}  // namespace
}  // namespace hearsay::run
