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

/// toml++ recurses into these, and would exhaust the stack.
TEST(ParseToml, RejectsDeepNesting) {
  const auto repeated = [](std::string_view text, int times) {
    std::string all;
    for (int k = 0; k < times; ++k) all += text;
    return all;
  };
  for (const std::string& text :
       {"a" + repeated(".a", 1'000'000) + " = 1\n", "[a" + repeated(".a", 400'000) + "]\n",
        "a = {a" + repeated(".a", 400'000) + " = 1}\n",
        "'a'" + repeated(" . \"a\"", 400'000) + " = 1\n",
        "a = " + repeated("[", 400'000) + repeated("]", 400'000) + "\n",
        "a = " + repeated("{a = ", 100) + "1" + repeated("}", 100) + "\n"}) {
    EXPECT_EQ(support::message_of([&] { parse_toml("b = 1\n" + text, "x.toml"); }),
              "[x.toml, line 2] nests deeper than 16 tables or lists; nothing here does")
        << text.substr(0, 20);
  }
  EXPECT_EQ(parse_toml("a" + repeated(".a", 15) +
                           " = [[[[1.5]]]]\nb = '....................'\n"
                           "c = 'x' # ....................[[[[[[[[[[[[[[[[[[[[\n",
                       "x.toml")
                .size(),
            3u);
}

TEST(ParseToml, RejectsLargeFiles) {
  const std::string large(kMostTomlBytes + 1, '\n');
  EXPECT_EQ(support::message_of([&] { parse_toml(large, "x.toml"); }),
            "[x.toml] has 4194305 bytes; a TOML file has at most 4194304 here");
}

TEST(TomlTable, ReadsFiniteNumbersOnly) {
  const std::string file = "x.toml";
  const toml::table table = parse_toml("a = 1.5\nb = nan\nc = -inf\n", file);
  const TomlTable in(table, file, {"a", "b", "c"});
  EXPECT_EQ(in.number("a", 0), 1.5);
  EXPECT_EQ(support::message_of([&] { in.number("b", 0); }),
            "[x.toml, line 2] b must be a finite number, got nan");
  EXPECT_EQ(support::message_of([&] { in.number("c", 0); }),
            "[x.toml, line 3] c must be a finite number, got -inf");
}

}  // namespace
}  // namespace hearsay
