#include <gtest/gtest.h>

#include "hearsay/core/utf8.h"

namespace hearsay {
namespace {

TEST(Utf8, IsWhatTheStandardSays) {
  for (const char* text :
       {"", "plain",
        "Donn\xc3\xa9"
        "es",
        "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(escape_non_utf8(text), text);
  }
  for (const char* text : {"Donn\xe9"
                           "es",
                           "\xc3", "\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80",
                           "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xff"}) {
    EXPECT_FALSE(is_utf8(text)) << escape_non_utf8(text);
    EXPECT_TRUE(is_utf8(escape_non_utf8(text)));
  }
}

TEST(Utf8, EscapesTheBytesThatDoNotBelong) {
  EXPECT_EQ(escape_non_utf8("caf\xe9, caf\xc3\xa9"), "caf\\xe9, caf\xc3\xa9");
  EXPECT_EQ(escape_non_utf8("\xe2\x82"), "\\xe2\\x82");
}

}  // namespace
}  // namespace hearsay
