#include "hearsay/live/tail.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "support/scratch.h"

namespace hearsay::live {
namespace {

class TailTest : public ::testing::Test {
 protected:
  void append(std::string_view text) { std::ofstream(file_, std::ios::app) << text; }

  /// The lines of one poll, and "reset" before them if there was one.
  static std::vector<std::string> news(Tail& tail) {
    const Tail::News news = tail.poll();
    std::vector<std::string> found;
    if (news.reset) found.emplace_back("reset");
    for (const Tail::Line& line : news.lines) found.push_back(line.text);
    return found;
  }

  using Lines = std::vector<std::string>;
  support::Scratch scratch_;
  std::filesystem::path file_ = scratch_ / "metrics.jsonl";
};

TEST_F(TailTest, TellsWholeLinesOnce) {
  Tail tail(file_, {});
  EXPECT_EQ(news(tail), Lines{}) << "there is no file yet";
  append("one\ntwo\nthr");
  EXPECT_EQ(news(tail), (Lines{"one", "two"}));
  EXPECT_EQ(news(tail), Lines{});
  append("ee\n");
  EXPECT_EQ(news(tail), Lines{"three"});
  EXPECT_TRUE(tail.at_end());
}

TEST_F(TailTest, GoesOnFromTheEndOfALine) {
  append("one\ntwo\n");
  Tail first(file_, {});
  const std::uint64_t end = first.poll().lines.at(0).end;
  EXPECT_EQ(end, 4u);
  Tail second(file_, end);
  EXPECT_EQ(news(second), Lines{"two"});
  Tail third(file_, 8);
  EXPECT_EQ(news(third), Lines{});
}

TEST_F(TailTest, APlaceThatIsNoEndOfALineIsAReset) {
  append("one\ntwo\n");
  for (const std::uint64_t from : {std::uint64_t{3}, std::uint64_t{9}, ~std::uint64_t{0}}) {
    Tail tail(file_, from);
    EXPECT_EQ(news(tail), (Lines{"reset", "one", "two"})) << from;
    EXPECT_EQ(news(tail), Lines{});
  }
}

TEST_F(TailTest, AFileThatWasCutIsToldAnew) {
  append("one\ntwo\nthree\n");
  Tail tail(file_, {});
  news(tail);
  std::filesystem::resize_file(file_, 4);
  EXPECT_EQ(news(tail), (Lines{"reset", "one"}));
  append("other\n");
  EXPECT_EQ(news(tail), Lines{"other"});
}

TEST_F(TailTest, AFileThatWasCutAndGrewIsToldAnewIfLinesDoNotMatch) {
  append("one\ntwo\n");
  Tail tail(file_, {});
  news(tail);
  std::filesystem::resize_file(file_, 4);
  append("another\n");
  EXPECT_EQ(news(tail), (Lines{"reset", "one", "another"}));
}

TEST_F(TailTest, AFileThatWasReplacedIsToldAnew) {
  append("one\n");
  Tail tail(file_, {});
  news(tail);
  support::write_text(scratch_ / "new", "uno\ndue\n");
  std::filesystem::rename(scratch_ / "new", file_);
  EXPECT_EQ(news(tail), (Lines{"reset", "uno", "due"}));
}

TEST_F(TailTest, AFileThatVanishesHasNoNews) {
  append("one\n");
  Tail tail(file_, {});
  news(tail);
  std::filesystem::remove(file_);
  EXPECT_EQ(news(tail), Lines{});
  std::filesystem::create_directory(file_);
  EXPECT_EQ(news(tail), Lines{});
  std::filesystem::remove(file_);
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_EQ(news(tail), Lines{}) << "and does not wait for a pipe's writer";
}

TEST_F(TailTest, OfALongFileOnlyTheLastLinesComeUnasked) {
  const std::string line(999, 'x');
  for (int i = 0; i < 2000; ++i) append(line + "\n");
  append("last\n");
  Tail tail(file_, {});
  std::size_t bytes = 0;
  Lines all;
  do {
    const Lines some = news(tail);
    for (const std::string& one : some) bytes += one.size() + 1;
    all.insert(all.end(), some.begin(), some.end());
  } while (!tail.at_end());
  EXPECT_LE(bytes, Tail::kFirstBytes);
  EXPECT_GT(bytes, Tail::kFirstBytes - 1001);
  EXPECT_EQ(all.front(), line) << "whole";
  EXPECT_EQ(all.back(), "last");

  Tail whole(file_, 0);
  std::size_t lines = 0;
  do {
    lines += news(whole).size();
  } while (!whole.at_end());
  EXPECT_EQ(lines, 2001u);
}

TEST_F(TailTest, ALineWithoutEndIsPassedOver) {
  append("one\n" + std::string(3 * Tail::kBytesAtOnce, 'x'));
  Tail tail(file_, 0);
  Lines all;
  const auto take_all = [&] {
    do {
      const Lines some = news(tail);
      all.insert(all.end(), some.begin(), some.end());
    } while (!tail.at_end());
  };
  take_all();
  append("xx\ntwo\n");
  take_all();
  EXPECT_EQ(all, (Lines{"one", "two"}));
}

TEST_F(TailTest, ControlCharactersAreBlanks) {
  append(
      std::string("a\rb\tc\0d\x1b"
                  "e\n",
                  11));
  Tail tail(file_, {});
  EXPECT_EQ(news(tail), Lines{"a b c d e"});
}

/// It may lead to any file of whoever watches.
TEST_F(TailTest, ALinkHasNoLines) {
  support::write_text(scratch_ / "secret", "one\n");
  std::filesystem::create_symlink(scratch_ / "secret", file_);
  Tail tail(file_, {});
  EXPECT_EQ(news(tail), Lines{});
}

}  // namespace
}  // namespace hearsay::live
