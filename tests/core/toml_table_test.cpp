#include "hearsay/core/toml_table.h"

#include <gtest/gtest.h>

#include "support/message_of.h"

namespace hearsay {
namespace {

TEST(ParseToml, ReadsAnyCharacterInStringsAndComments) {
  const toml::table table = parse_toml(
      "\xEF\xBB\xBF# \u00e9\n"
      "a = '\u00e9\\' # \u00e9\n"
      "b = \"\\\"\u00e9\"\n"
      "c = '''\u00e9\n''\u00e9'''''\n"
      "'\u00e9' = \"\"\"\n\u00e9\\\"\"\"\u00e9\"\"\"\n",
      "x.toml");
  EXPECT_EQ(table["a"].value_or(std::string()), "\u00e9\\");
  EXPECT_EQ(table["b"].value_or(std::string()), "\"\u00e9");
  EXPECT_EQ(table["c"].value_or(std::string()), "\u00e9\n''\u00e9''");
  EXPECT_EQ(table["\u00e9"].value_or(std::string()), "\u00e9\"\"\"\u00e9");
}

TEST(ParseToml, RejectsOthersThanAsciiElsewhere) {
  for (const char* text : {"a = 1\n\u00e9 = 2\n", "a = 1\nb = \u00e9\n", "a = 1\n[t\u00e9]\n",
                           "a = 'b'\n\ufb70 = 1\n", "a = '''\n'''\u00a0\n", "a = \"\n\u00e9"}) {
    EXPECT_EQ(support::message_of([&] { parse_toml(text, "x.toml"); }),
              "[x.toml, line 2] a character that is not ASCII; put the key or value in quotes")
        << text;
  }
}

}  // namespace
}  // namespace hearsay
