#include "hearsay/report/page/graph_section.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hearsay/run/run.h"
#include "report/run_directories.h"

namespace hearsay::report {
namespace {

/// The graph's part of a page: of a run of that many peers whose summary ends with `more`.
std::string section_of(const std::string& graph, std::uint64_t peers, const std::string& more,
                       const std::string& timing = "lock-step") {
  const support::Scratch scratch;
  make_run(scratch / "run", graph, more);
  train::RunOptions config;
  config.graph = graph;
  config.peers = peers;
  config.timing = timing;
  support::write_text(scratch / "run/config.toml", config.to_toml());
  return graph_section(Record(scratch / "run"), 1000);
}

std::string edge(const char* ends, const char* width) {
  return fmt::format("data-edge=\"{}\" stroke-width=\"{}\"", ends, width);
}

TEST(GraphSection, SharesAPeersBytesOverItsEdgesIfTheyStayTheSame) {
  const std::string html = section_of("star", 3, R"(, "bytes_by_peer": [2000, 250, 500])");
  EXPECT_TRUE(holds(html, edge("0-1", "5.00"))) << html;
  EXPECT_TRUE(holds(html, edge("0-2", "5.00")));
  EXPECT_TRUE(holds(html, edge("1-0", "1.25")));
  EXPECT_TRUE(holds(html, edge("2-0", "2.50")));
  EXPECT_TRUE(holds(html, "2 to 0, weight 0.333, 500 B</title>")) << html;
  EXPECT_TRUE(holds(html, "the widest is 1 kB.")) << html;
}

/// All phases on one scale.
TEST(GraphSection, TakesWhatTheRunCountedIfTheyChange) {
  const std::string html = section_of(
      "one-peer-exponential", 4,
      R"(, "bytes_by_peer": [9, 9, 9, 9], "bytes_by_edge": [[0, 1, 1000], [1, 2, 500], [0, 2, 250]])");
  EXPECT_TRUE(holds(html, "2 graphs in turn.")) << html;
  EXPECT_TRUE(holds(html, edge("0-1", "5.00"))) << html;
  EXPECT_TRUE(holds(html, edge("1-2", "2.50")));
  EXPECT_TRUE(holds(html, edge("0-2", "1.25")));
  EXPECT_TRUE(holds(html, "3 to 0, weight 0.5, 0 B</title>")) << html;
}

TEST(GraphSection, TakesWhatTheRunCountedIfPeersComeAndGo) {
  const std::string html = section_of(
      "ring", 3, R"(, "bytes_by_peer": [9, 9, 9], "bytes_by_edge": [[0, 1, 1000], [1, 2, 500]])",
      "asynchronous");
  EXPECT_TRUE(holds(html, edge("0-1", "5.00"))) << html;
  EXPECT_TRUE(holds(html, edge("1-2", "2.50")));
  EXPECT_TRUE(holds(html, "0 to 2, weight 0.333, 0 B; 2 to 0")) << html;
}

TEST(GraphSection, HasNoWidthsWhereARunTellsNone) {
  const std::string told = "the widest is";
  EXPECT_FALSE(holds(section_of("ring", 3, ""), told));
  EXPECT_FALSE(holds(section_of("ring", 3, R"(, "bytes_by_peer": [1, 2])"), told));
  for (const char* foreign : {"[[0, 1]]", "[[0, 4, 7]]", "[[-1, 1, 7]]", "[7]", "[[0, 1, null]]"}) {
    const std::string html =
        section_of("one-peer-exponential", 4,
                   fmt::format(R"(, "bytes_by_peer": [9, 9, 9, 9], "bytes_by_edge": {})", foreign));
    EXPECT_FALSE(holds(html, told)) << foreign;
    EXPECT_TRUE(holds(html, "data-edge=\"0-1\"")) << foreign;
  }
  EXPECT_TRUE(holds(section_of("one-peer-exponential", 65, ""), "up to 64 peers"));
}

TEST(GraphSection, HasAMiddlingWidthWhereAllEdgesAreAlike) {
  const std::string html = section_of("ring", 3, R"(, "bytes_by_peer": [200, 200, 200])");
  EXPECT_EQ(count(html, "stroke-width=\"2.50\""), 3u) << html;
}

TEST(GraphSection, SaysThatNothingWasSent) {
  const support::Scratch scratch;
  run::Observer silent;
  run::run(support::config_of({{"data", "least-squares"},
                               {"algorithm", "silent"},
                               {"graph", "cycle:sparse-push:a+sparse-push:b,every=2"},
                               {"rounds", "4"}}),
           scratch / "run", silent);
  EXPECT_TRUE(holds(graph_section(Record(scratch / "run"), 1000),
                    "2 graphs in turn. Nothing was sent over these edges."));
}

TEST(GraphSection, HasAMatrixOfManyPeers) {
  EXPECT_FALSE(holds(section_of("ring", 24, ""), "class=\"matrix\""));
  const std::string ring = section_of("ring:directed", 64, "");
  EXPECT_EQ(count(ring, "class=\"graph\""), 1u);
  EXPECT_EQ(count(ring, "class=\"matrix\""), 1u);
  EXPECT_TRUE(holds(ring, "M1 0h1v1h-1zM2 1h1v1h-1z")) << "0 sends to 1, 1 to 2";
  EXPECT_TRUE(holds(ring, "M0 63h1v1h-1z"));
  EXPECT_FALSE(holds(section_of("ring", 129, ""), "class=\"matrix\""));
  const std::string complete = section_of("complete", 40, "");
  EXPECT_FALSE(holds(complete, "class=\"graph\"")) << "1560 edges are too many for lines";
  EXPECT_TRUE(holds(complete, "M0 1h1v1h-1zM2 1h38v1h-38z")) << complete;
}

TEST(GraphSection, HasDarkerCellsForMoreBytes) {
  std::string bytes = "0";
  for (int peer = 1; peer < 40; ++peer) bytes += fmt::format(", {}", 25 * peer);
  const std::string html =
      section_of("ring:directed", 40, fmt::format(R"(, "bytes_by_peer": [{}])", bytes));
  EXPECT_TRUE(holds(html, "fill-opacity=\"1.00\"")) << html;
  EXPECT_TRUE(holds(html, "fill-opacity=\"0.36\""));
}

TEST(GraphSection, SaysWhatCannotBeDrawn) {
  EXPECT_TRUE(holds(section_of("file:nowhere", 4, ""), "cannot be drawn: "));
  EXPECT_TRUE(holds(section_of("complete", 130, ""), "16770 edges are too many"));
}

}  // namespace
}  // namespace hearsay::report
