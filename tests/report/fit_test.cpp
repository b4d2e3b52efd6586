#include "hearsay/report/fit.h"

#include <gtest/gtest.h>

#include <sstream>

namespace hearsay::report {
namespace {

/// Columns "c0", "c1", ... of `width` characters each, and one row.
TextRows columns(std::size_t count, std::size_t width) {
  TextRows rows(2);
  for (std::size_t c = 0; c < count; ++c) {
    rows[0].push_back("c" + std::to_string(c));
    rows[1].push_back(std::string(width, static_cast<char>('a' + c)));
  }
  return rows;
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

// Five columns of 20 and four gaps of 2 are 108 characters; four columns are 86.
TEST(FoldedTable, GoesOnBelowWithTheFirstColumn) {
  EXPECT_EQ(folded_table(columns(4, 20)).find("\n\n"), std::string::npos);
  const std::string text = folded_table(columns(5, 20));
  EXPECT_EQ(longest_line(text), 86u);
  const std::string below = text.substr(text.find("\n\n") + 2);
  EXPECT_TRUE(below.starts_with("c0 ")) << below;
  EXPECT_NE(below.find(std::string(20, 'a') + "  " + std::string(20, 'e')), std::string::npos);
  EXPECT_EQ(below.find("c1"), std::string::npos);
}

TEST(FoldedTable, ShowsAColumnThatIsTooWideAlone) {
  const std::string text = folded_table(columns(3, 120));
  EXPECT_EQ(longest_line(text), 242u);
  EXPECT_EQ(text.find(std::string(120, 'b') + "  "), std::string::npos);
}

TEST(NarrowedTable, DropsOnlyWhatItMustAndSaysWhat) {
  const std::vector<std::string> least{"c3", "no such column", "c1"};
  const std::string text = narrowed_table(columns(5, 20), least);
  EXPECT_EQ(longest_line(text), 86u);
  EXPECT_TRUE(text.ends_with("\nnot shown: c3 (--wide shows all)\n")) << text;
  EXPECT_NE(text.find("c1"), std::string::npos);
  EXPECT_EQ(narrowed_table(columns(4, 20), least), folded_table(columns(4, 20)));
}

TEST(NarrowedTable, FoldsWhatIsStillTooWide) {
  const std::vector<std::string> least{"c3"};
  const std::string text = narrowed_table(columns(7, 20), least);
  EXPECT_LE(longest_line(text), kTableWidth);
  EXPECT_NE(text.find("c6"), std::string::npos);
  EXPECT_EQ(text.find("dddd"), std::string::npos);
}

}  // namespace
}  // namespace hearsay::report
