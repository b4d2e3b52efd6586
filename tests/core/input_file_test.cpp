#include "hearsay/core/input_file.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "support/message_of.h"
#include "support/scratch.h"

namespace hearsay {
namespace {

std::string why_not(const std::filesystem::path& path) { return InputFile().open(path); }

TEST(InputFile, ReadsPiecesFromAnywhere) {
  const support::Scratch scratch;
  support::write_text(scratch / "file", "0123456789");
  InputFile file;
  ASSERT_EQ(file.open(scratch / "file"), "");
  EXPECT_EQ(file.size(), 10u);
  std::string text(4, ' ');
  EXPECT_EQ(file.read(text.data(), 4), 4u);
  EXPECT_EQ(text, "0123");
  file.seek(8);
  EXPECT_EQ(file.read(text.data(), 4), 2u);
  EXPECT_EQ(text, "8923");
  EXPECT_EQ(file.read(text.data(), 4), 0u);
}

/// None of these calls waits.
TEST(InputFile, IsARegularFile) {
  const support::Scratch scratch;
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(why_not(scratch / "pipe"), "it is no regular file");
  EXPECT_EQ(why_not("/dev/zero"), "it is no regular file");
  EXPECT_EQ(why_not(scratch.path()), "Is a directory");
  EXPECT_EQ(why_not(scratch / "none"), "No such file or directory");
  std::filesystem::create_symlink("a", scratch / "b");
  std::filesystem::create_symlink("b", scratch / "a");
  EXPECT_EQ(why_not(scratch / "a"), "Too many levels of symbolic links");
}

TEST(ReadFile, RefusesWhatWouldNotEnd) {
  const support::Scratch scratch;
  const std::string pipe = (scratch / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(support::message_of<RunFailed>([&] { read_file(pipe); }),
            "[files] cannot read " + pipe + ": it is no regular file");
  EXPECT_EQ(support::message_of<RunFailed>([&] { read_file("/dev/zero"); }),
            "[files] cannot read /dev/zero: it is no regular file");
}

TEST(ReadFile, RefusesMoreThanItsCallerExpects) {
  const support::Scratch scratch;
  const std::string file = (scratch / "file").string();
  support::write_text(file, "12345");
  EXPECT_EQ(read_file(file, 5), "12345");
  EXPECT_EQ(support::message_of<CorruptData>([&] { read_file(file, 4); }),
            "[files] " + file + " has 5 bytes; at most 4 are read");
}

}  // namespace
}  // namespace hearsay
