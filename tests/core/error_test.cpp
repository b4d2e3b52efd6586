#include "hearsay/core/error.h"

#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace hearsay {
namespace {

TEST(Messages, KeepWhatPeopleWrite) {
  const std::string text = "[topk] keep must be in (0, 1], got 1.5";
  EXPECT_EQ(InvalidArgument(text).what(), text);
  const std::string path = "[train] there is no file '/" + std::string(180, 'd') + "/a.toml'";
  EXPECT_EQ(CorruptData(path).what(), path);
}

TEST(Messages, CutLongNamesInTheirMiddle) {
  const std::string name = "'begin" + std::string(1'000'000, 'x') + "end'";
  const std::string cut = InvalidArgument("[graph] no graph " + name + " here; use ring").what();
  EXPECT_TRUE(cut.starts_with("[graph] no graph 'beginxxx")) << cut;
  EXPECT_TRUE(cut.ends_with("xxxend' here; use ring")) << cut;
  EXPECT_NE(cut.find("xxx...xxx"), std::string::npos) << cut;
  EXPECT_EQ(cut.size(), std::string("[graph] no graph  here; use ring").size() + 200);
  EXPECT_EQ(RunFailed(cut).what(), cut) << "what was cut stays as it is";
}

TEST(Messages, CutLongTextsWithoutBreakingCharacters) {
  std::string words, letters;
  for (int k = 0; k < 100'000; ++k) words += "word ";
  for (int k = 0; k < 1000; ++k) letters += "\u00e9";
  EXPECT_EQ(std::string(InvalidArgument(words + "end").what()).size(), 4000u);
  const std::string cut = InvalidArgument(letters).what();
  EXPECT_LE(cut.size(), 200u);
  const std::size_t gap = cut.find("...");
  EXPECT_EQ(gap % 2, 0u);
  EXPECT_EQ((cut.size() - gap - 3) % 2, 0u);
}

TEST(Messages, AreSentencesForOtherExceptions) {
  EXPECT_EQ(message_of(InvalidArgument("[a] b")), "[a] b");
  EXPECT_TRUE(message_of(std::bad_alloc()).starts_with("[memory] there is not enough memory"));
  EXPECT_TRUE(message_of(std::length_error("vector")).starts_with("[memory] there is not enough"));
  EXPECT_EQ(message_of(std::filesystem::filesystem_error(
                "status", "runs/a", std::make_error_code(std::errc::not_a_directory))),
            "[files] cannot use runs/a: Not a directory");
}

}  // namespace
}  // namespace hearsay
