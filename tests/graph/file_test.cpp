#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph/matrices.h"

namespace hearsay::graph {
namespace {

class FileGraph : public testing::Test {
 protected:
  /// The spec of a file with this text.
  std::string spec(std::string_view text) {
    std::ofstream(path_) << text;
    return "file:" + path_;
  }

  /// The error message for this text, without the path.
  std::string error(std::string_view text, std::size_t peers = 0) {
    std::string message = message_of_spec(spec(text), peers);
    for (std::size_t at; (at = message.find(path_)) != std::string::npos;) {
      message.replace(at, path_.size(), "PATH");
    }
    return message;
  }

  std::string path_ = testing::TempDir() + "hearsay_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() + ".txt";
};

TEST_F(FileGraph, TakesWeightsAsGiven) {
  const Weights weights =
      weights_of(spec("# from to weight\n0 1 0.25\n\n1 2 0.5  # half\n2 0 0.125\r\n"), 0);
  EXPECT_EQ(dense(weights), (Matrix{{0.75, 0, 0.125}, {0.25, 0.5, 0}, {0, 0.5, 0.875}}));
}

TEST_F(FileGraph, SplitsEvenlyWithoutWeightsIfDirected) {
  const Weights weights = weights_of(spec("0 1\n0 2\n1 0\n2 1\n"), 0);
  EXPECT_EQ(dense(weights)[1][0], 1.0 / 3);
  EXPECT_EQ(dense(weights)[0][1], 0.5);
}

TEST_F(FileGraph, TakesMetropolisWeightsIfUndirected) {
  const Weights star = weights_of(spec("0 1\n1 0\n0 2\n2 0\n0 3\n3 0\n"), 0);
  EXPECT_EQ(dense(star), dense(weights_of("star", 4)));
}

TEST_F(FileGraph, ErrorsNameFileAndLine) {
  EXPECT_EQ(error("0 1\n1\n"),
            "[file] PATH:2: '' is no peer; peers are whole numbers from 0 to 1048575");
  EXPECT_EQ(error("0 1\n\nx 2\n"),
            "[file] PATH:3: 'x' is no peer; peers are whole numbers from 0 to 1048575");
  EXPECT_EQ(error("0 -1\n"),
            "[file] PATH:1: '-1' is no peer; peers are whole numbers from 0 to 1048575");
  EXPECT_EQ(error("0 4000000000\n"),
            "[file] PATH:1: '4000000000' is no peer; peers are whole numbers from 0 to 1048575");
  EXPECT_EQ(error("0 1 0.5 9\n"),
            "[file] PATH:1: has more than three words; write 'sender receiver [weight]'");
  EXPECT_EQ(error("0 1 1.5\n"), "[file] PATH:1: weight must be a number in (0, 1), got '1.5'");
  EXPECT_EQ(error("0 1 nan\n"), "[file] PATH:1: weight must be a number in (0, 1), got 'nan'");
  EXPECT_EQ(error("0 1\n1 0 0.5\n"),
            "[file] PATH:2: must be like the lines before: give all edges a weight, or none");
  EXPECT_EQ(error("0 1\n1 0\n0 1\n"),
            "[file] PATH:3: gives edge 0 -> 1 again, first given in line 1");
  EXPECT_EQ(error("0 0 0.5\n"),
            "[file] PATH:1: is a self-loop; leave it out: a peer keeps what it does not send");
}

TEST_F(FileGraph, ErrorsNameTheFileIfTheGraphIsWrongAsAWhole) {
  EXPECT_EQ(error("# nothing\n"),
            "[file] PATH has no edges; write one a line, 'sender receiver [weight]'");
  EXPECT_EQ(
      error("0 1 0.5\n0 2 0.5\n1 0 0.5\n2 0 0.5\n"),
      "[file] PATH: [graph] peer 0 gives away 1 of its 1; its out-edges must sum to less than 1");
  EXPECT_EQ(
      error("0 1\n1 2\n"),
      "[graph] file:PATH is not strongly connected: nothing from peer 1 reaches peer 0; add edges "
      "until every peer reaches every other");
  EXPECT_EQ(
      error("0 1\n1 0\n", 3),
      "[graph] file:PATH is not strongly connected: nothing from peer 0 reaches peer 2; add edges "
      "until every peer reaches every other");
  EXPECT_EQ(error("0 1\n1 2\n2 0\n", 2),
            "[graph] file:PATH has 3 peers but --peers is 2; drop --peers");
  EXPECT_EQ(message_of_spec("file:no/such/file"),
            "[file] cannot read no/such/file; give the path of an edge list");
}

TEST_F(FileGraph, NeedBeConnectedOnlyJointlyInACycle) {
  const std::string halves = spec("0 1\n1 0\n");
  EXPECT_EQ(make_schedule(fmt::format("cycle:{}+star", halves), {.peers = 3})->peers(), 3u);
  const std::string both = fmt::format("cycle:{}+{}", halves, halves);
  EXPECT_EQ(
      message_of_spec(both, 3),
      fmt::format("[graph] {} is not jointly strongly connected: nothing from peer 0 reaches peer "
                  "2; add edges until every peer reaches every other",
                  both));
}

TEST_F(FileGraph, LinesAreShortAndFilesRegular) {
  EXPECT_EQ(error("0 1\n" + std::string(10'000'000, '7')),
            "[file] PATH:2: is longer than 4096 bytes; write one edge a line");
  EXPECT_EQ(error("0 1\n1 0 #" + std::string(10'000'000, ' ') + "\n"),
            "[file] PATH:2: is longer than 4096 bytes; write one edge a line");
  EXPECT_EQ(message_of_spec("file:/dev/zero"),
            "[file] cannot read /dev/zero; give the path of an edge list");
}

}  // namespace
}  // namespace hearsay::graph
