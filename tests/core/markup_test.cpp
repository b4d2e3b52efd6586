#include "hearsay/core/markup.h"

#include <gtest/gtest.h>

namespace hearsay {
namespace {

TEST(EscapeMarkup, LeavesNothingThatMarkupReads) {
  EXPECT_EQ(escape_markup("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(escape_markup("tab\tline\n"), "tab\tline\n");
  EXPECT_EQ(escape_markup(std::string_view("\x01\0x", 3)), "\xef\xbf\xbd\xef\xbf\xbdx");
  EXPECT_EQ(escape_markup("\xc3\xa4"), "\xc3\xa4");
}

}  // namespace
}  // namespace hearsay
