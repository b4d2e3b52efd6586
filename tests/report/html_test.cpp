#include "hearsay/report/page/html.h"

#include <gtest/gtest.h>

#include "report/run_directories.h"

namespace hearsay::report {
namespace {

TEST(HtmlTable, KeepsTheNumbersThatItIsSortedBy) {
  const std::string html = html_table({{{"run"}, {"graph"}, {"bytes"}},
                                       {{"a<b"}, {"x,y"}, {"16.3 kB", 16340}},
                                       {{"c"}, {"z"}, {"-"}}},
                                      true);
  EXPECT_TRUE(holds(html, "<table class=\"sortable\">"));
  EXPECT_EQ(count(html, "<button type=\"button\">"), 3u);
  EXPECT_TRUE(holds(html, "<td data-value=\"16340\">16.3 kB</td>"));
  EXPECT_TRUE(holds(html, "<td>-</td>")) << "no number: last, whichever the order";
  EXPECT_TRUE(holds(html, "<th scope=\"row\"><span>a&lt;b</span></th>"));
  EXPECT_TRUE(holds(html, "<td class=\"words\"><span>x,</span><wbr/><span>y</span></td>"));
  EXPECT_EQ(html_table({}), "");
}

TEST(HtmlTable, IsPlainIfNobodySorts) {
  EXPECT_FALSE(holds(html_table({{{"a"}}, {{"b"}}}), "button"));
}

TEST(DrawCounts, HasABarAClassOnOneScale) {
  const std::string html = draw_counts({{7, 0}, {1, 14}}, {"cat", "<dog>"});
  EXPECT_TRUE(holds(html, "height:50.0%\"></i><b>7</b>"));
  EXPECT_TRUE(holds(html, "height:100.0%\"></i><b>14</b>"));
  EXPECT_TRUE(holds(html, "<th scope=\"col\">cat</th>"));
  EXPECT_TRUE(holds(html, "&lt;dog&gt;"));
  EXPECT_TRUE(holds(html, "<td class=\"all\">15</td>"));
  EXPECT_EQ(draw_counts({}, {}), "");
}

TEST(DrawCounts, IsAPictureOfManyClassesAndTheFirstOfManyPeers) {
  const std::string few = draw_counts({8, std::vector<double>(30, 3)}, {});
  EXPECT_EQ(count(few, "<tr><th scope=\"row\">peer "), 8u);
  EXPECT_EQ(count(few, "<svg "), 8u);
  EXPECT_TRUE(holds(few, "<th scope=\"col\">0 to 29</th>"));
  std::vector<std::vector<double>> counts(100, std::vector<double>(20, 3));
  counts[1] = std::vector<double>(20, 0);
  counts[1][2] = 6;
  const std::string html = draw_counts(counts, {"a", "b", "<c>"});
  EXPECT_EQ(count(html, "class=\"histogram\""), 64u);
  EXPECT_EQ(count(html, "<rect "), 63u * 20 + 1);
  EXPECT_TRUE(holds(html,
                    "<rect x=\"2\" y=\"0.0\" width=\"0.9\" height=\"100.0\">"
                    "<title>&lt;c&gt;: 6</title>"));
  EXPECT_TRUE(holds(html, "<p>peer 1<span>6</span></p>"));
  EXPECT_TRUE(holds(html, "The first 64 of 100 peers"));
  const std::string of_many = draw_counts({9, std::vector<double>(21, 3)}, {});
  EXPECT_EQ(count(of_many, "class=\"histogram\""), 9u);
  EXPECT_EQ(count(of_many, "<path "), 9u) << "one for all classes";
  EXPECT_EQ(count(of_many, "<rect "), 0u);
}

}  // namespace
}  // namespace hearsay::report
