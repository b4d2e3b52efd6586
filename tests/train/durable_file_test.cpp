#include "hearsay/train/durable_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>

#include "train/scratch.h"

namespace hearsay::train {
namespace {

namespace fs = std::filesystem;

/// One writer is in the middle of it while another, in a process of its own, begins and ends.
TEST(DurableFile, OfSeveralWritersIsWholeAndTheLastOnes) {
  const Scratch scratch;
  const fs::path path = scratch / "record";
  constexpr auto kSeveral = DurableFile::Writers::kSeveral;
  DurableFile mine(path, kSeveral);
  mine.write("mi");
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 1;
    try {
      DurableFile theirs(path, kSeveral);
      theirs.write("theirs");
      theirs.commit();
      status = 0;
    } catch (const std::exception&) {
    }
    ::_exit(status);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_text(path), "theirs");
  mine.write("ne");
  mine.commit();
  EXPECT_EQ(read_text(path), "mine");
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), {}), 1) << "nothing is left";
}

TEST(DurableFile, ThatIsGivenUpLeavesNothing) {
  const Scratch scratch;
  for (const auto writers : {DurableFile::Writers::kOne, DurableFile::Writers::kSeveral}) {
    DurableFile(scratch / "record", writers).write("half");
    EXPECT_TRUE(fs::is_empty(scratch.path()));
  }
}

}  // namespace
}  // namespace hearsay::train
