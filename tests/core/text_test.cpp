#include "hearsay/core/text.h"

#include <gtest/gtest.h>

namespace hearsay {
namespace {

TEST(HumanBytes, HasThreeDigitsInPowersOfAThousand) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(812), "812 B");
  EXPECT_EQ(human_bytes(999.4), "999 B");
  EXPECT_EQ(human_bytes(999.6), "1 kB");
  EXPECT_EQ(human_bytes(16'340), "16.3 kB");
  EXPECT_EQ(human_bytes(999'600), "1 MB");
  EXPECT_EQ(human_bytes(1.08e6), "1.08 MB");
  EXPECT_EQ(human_bytes(2.5e9), "2.5 GB");
  EXPECT_EQ(human_bytes(7e15), "7 PB");
  EXPECT_EQ(human_bytes(12'345e15), "1.23e+04 PB");
}

TEST(FormatTable, AlignsTheFirstColumnLeftAndTheOthersRight) {
  EXPECT_EQ(format_table({{"run", "loss"}, {"a/long/name", "1"}, {"b", "12.25"}}),
            "run           loss\n"
            "------------------\n"
            "a/long/name      1\n"
            "b            12.25\n");
}

TEST(FormatTable, TakesShortRows) {
  EXPECT_EQ(format_table({{"a", "b"}, {"c"}}), "a  b\n----\nc\n");
}

TEST(NameList, NamesTwentyAtMost) {
  std::vector<std::string> names;
  EXPECT_EQ(name_list(names), "");
  for (int k = 0; k < 20; ++k) names.push_back(std::string(1, static_cast<char>('a' + k)));
  EXPECT_EQ(name_list(names), "a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t");
  names.resize(1000, "u");
  EXPECT_EQ(name_list(names, "/"), "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/... (1000 in all)");
}

}  // namespace
}  // namespace hearsay
