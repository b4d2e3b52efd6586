#include "hearsay/core/durable_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>

#include "hearsay/core/error.h"
#include "support/scratch.h"

namespace hearsay {
namespace {

namespace fs = std::filesystem;

/// While one writer is half done, another one, in another process, starts and commits.
TEST(DurableFile, OfSeveralWritersIsWholeAndTheLastOnes) {
  const support::Scratch scratch;
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
  EXPECT_EQ(support::read_text(path), "theirs");
  mine.write("ne");
  mine.commit();
  EXPECT_EQ(support::read_text(path), "mine");
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), {}), 1) << "nothing is left";
}

TEST(DurableFile, ThatIsGivenUpLeavesNothing) {
  const support::Scratch scratch;
  for (const auto writers : {DurableFile::Writers::kOne, DurableFile::Writers::kSeveral}) {
    DurableFile(scratch / "record", writers).write("half");
    EXPECT_TRUE(fs::is_empty(scratch.path()));
  }
}

TEST(UserFile, AppearsWholeAndTouchesNothingElse) {
  const support::Scratch scratch;
  support::write_text(scratch / "page.tmp", "precious");
  write_user_file(scratch / "page", "one");
  write_user_file(scratch / "page", "two");
  write_user_file(scratch / std::string(255, 'x'), "three");
  EXPECT_EQ(support::read_text(scratch / "page"), "two");
  EXPECT_EQ(support::read_text(scratch / std::string(255, 'x')), "three");
  EXPECT_EQ(support::read_text(scratch / "page.tmp"), "precious");
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), {}), 3) << "nothing is left";
}

TEST(UserFile, KeepsItsPermissions) {
  const support::Scratch scratch;
  support::write_text(scratch / "page", "one");
  fs::permissions(scratch / "page", fs::perms::owner_read | fs::perms::owner_write);
  write_user_file(scratch / "page", "two");
  EXPECT_EQ(fs::status(scratch / "page").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  const mode_t mask = ::umask(027);
  write_user_file(scratch / "new", "one");
  ::umask(mask);
  EXPECT_EQ(fs::status(scratch / "new").permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
}

TEST(UserFile, BehindLinksIsTheLastTarget) {
  const support::Scratch scratch;
  fs::create_directory(scratch / "folder");
  fs::create_symlink("folder/inner", scratch / "outer");
  fs::create_symlink("page", scratch / "folder/inner");
  for (const char* text : {"a new file", "an old one"}) {
    write_user_file(scratch / "outer", text);
    EXPECT_EQ(support::read_text(scratch / "folder/page"), text);
    EXPECT_TRUE(fs::is_symlink(scratch / "outer") && fs::is_symlink(scratch / "folder/inner"));
  }
}

TEST(UserFile, MayBeAPipeOrADevice) {
  const support::Scratch scratch;
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  const int reader = ::open((scratch / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  write_user_file(scratch / "pipe", "through");
  char text[8] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 7);
  ::close(reader);
  EXPECT_STREQ(text, "through");
  EXPECT_TRUE(fs::is_fifo(scratch / "pipe"));
  fs::create_symlink("/dev/null", scratch / "nothing");
  write_user_file(scratch / "nothing", "away");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_user_file("/dev/full", "too much"), RunFailed);
}

TEST(UserFile, IsToldByItsOwnName) {
  const support::Scratch scratch;
  fs::create_symlink("loop", scratch / "loop");
  const auto error_of = [](const fs::path& path) -> std::string {
    try {
      write_user_file(path, "text");
    } catch (const RunFailed& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string name = scratch.path().string();
  EXPECT_EQ(error_of(scratch / "nowhere/page"),
            "[files] cannot create " + name + "/nowhere/page: No such file or directory");
  EXPECT_EQ(error_of(scratch.path()), "[files] cannot write " + name + ": Is a directory");
  EXPECT_EQ(error_of(scratch / "loop"),
            "[files] cannot write " + name + "/loop: Too many levels of symbolic links");
}

}  // namespace
}  // namespace hearsay
