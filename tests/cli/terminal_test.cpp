#include "cli/terminal/terminal.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <limits>
#include <sstream>

#include "cli/process.h"
#include "cli/screen.h"
#include "cli/stop.h"
#include "cli/terminal/pace.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

TEST(Fit, CountsCharactersAndNotEscapes) {
  const Line line = {{"peer 0 "}, {"#####", "32"}, {" äöü€"}};
  EXPECT_EQ(fit(line, 100, false), "peer 0 ##### äöü€");
  EXPECT_EQ(fit(line, 100, true), "peer 0 \x1b[32m#####\x1b[0m äöü€");
  EXPECT_EQ(fit(line, 9, true), "peer 0 \x1b[32m##\x1b[0m");
  EXPECT_EQ(fit(line, 7, true), "peer 0 ") << "no colour for nothing";
  EXPECT_EQ(fit(line, 15, false), "peer 0 ##### äö") << "characters stay whole";
  EXPECT_EQ(fit(line, 0, true), "");
  EXPECT_EQ(fit(line, -3, true), "");
}

TEST(Fit, LetsNoControlCharacterThrough) {
  EXPECT_EQ(fit({{"a\x1b[2Jb\r\nc\x7f"}}, 100, true), "a [2Jb  c ");
}

TEST(DurationText, IsShortAtAnyLength) {
  EXPECT_EQ(duration_text(0.44), "0.4 s");
  EXPECT_EQ(duration_text(9.96), "10 s");
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(59.6), "1 min 00 s");
  EXPECT_EQ(duration_text(125), "2 min 05 s");
  EXPECT_EQ(duration_text(3599.7), "1 h 00 min");
  EXPECT_EQ(duration_text(12000), "3 h 20 min");
  EXPECT_EQ(duration_text(200000), "2 d 7 h");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::quiet_NaN()), "-");
}

/// A run with accuracies that is short, but long enough for a block to be drawn.
Words run_of(int peers, const std::string& out) {
  return {
      "train",    "--data", "digits", "--model",   "logistic",   "--peers", std::to_string(peers),
      "--rounds", "60",     "--lr",   "0.1",       "--evaluate", "10",      "--threads",
      "1",        "--out",  out,      "--compare", "no"};
}

std::size_t lines_with(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(OnATerminal, ShowsProgressAndLeavesWhatAPipeGets) {
  const support::Scratch scratch;
  const TerminalResult result = hearsay_on_terminal(run_of(4, "run"), scratch.path(), 200, 50);
  ASSERT_EQ(result.status, 0) << result.said;
  for (const char* shown : {"rounds/s", " left", "peer 0", "peer 3", "loss ", "accuracy ", " kB"}) {
    EXPECT_NE(result.said.find(shown), std::string::npos) << shown;
  }
  Screen screen(200);
  screen.write(result.said);
  EXPECT_EQ(screen.unknown(), "");
  EXPECT_GT(screen.redraws(), 0u);
  EXPECT_TRUE(screen.coloured());
  EXPECT_EQ(lines_with(screen.text(), "rounds/s"), 0u) << "the block is wiped:\n" << screen.text();

  const Result piped = hearsay(run_of(4, "piped"), scratch.path());
  ASSERT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(lines_with(screen.text(), "\nround "), 9u) << screen.text();
  const auto head = [](const std::string& text) { return text.substr(0, text.rfind("\nround ")); };
  std::string trimmed;
  std::istringstream lines(piped.out);
  for (std::string line; std::getline(lines, line);) {
    trimmed += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  EXPECT_EQ(head(screen.text()), head(trimmed));
}

/// Problems without accuracy have per-peer lines too, and methods on directed graphs show weights.
TEST(OnATerminal, ShowsWhatThereIsOfAPeer) {
  const support::Scratch scratch;
  const TerminalResult result = hearsay_on_terminal(
      {"train", "--data", "least-squares:dim=20", "--peers", "3", "--graph", "star", "--algorithm",
       "sgp", "--rounds", "200", "--evaluate", "50", "--out", "run"},
      scratch.path(), 80, 30);
  ASSERT_EQ(result.status, 0) << result.said;
  for (const char* shown : {"peer 0", "peer 2", "to optimum", " sent"}) {
    EXPECT_NE(result.said.find(shown), std::string::npos) << shown << result.said;
  }
  EXPECT_EQ(result.said.find('#'), std::string::npos) << result.said;
}

TEST(OnATerminal, KeepsToTheWidth) {
  const support::Scratch scratch;
  for (const int width : {20, 80, 200}) {
    const std::string out = "run" + std::to_string(width);
    const TerminalResult result = hearsay_on_terminal(run_of(3, out), scratch.path(), width, 30);
    ASSERT_EQ(result.status, 0) << result.said;
    // Text before and after the rounds wraps; progress does not.
    const std::size_t begin = result.said.find("round ", result.said.find(" rounds"));
    const std::size_t end = result.said.rfind("\x1b[J");
    ASSERT_LT(begin, end);
    Screen screen(width);
    screen.write(std::string_view(result.said).substr(begin, end - begin));
    EXPECT_FALSE(screen.wrapped()) << width << ":\n" << result.said;
  }
}

TEST(OnATerminal, IsNoHigherThanTheWindow) {
  const support::Scratch scratch;
  const TerminalResult result = hearsay_on_terminal(run_of(8, "run"), scratch.path(), 80, 4);
  ASSERT_EQ(result.status, 0) << result.said;
  EXPECT_NE(result.said.find("\x1b[3A"), std::string::npos);
  for (int up = 4; up < 12; ++up) {
    EXPECT_EQ(result.said.find("\x1b[" + std::to_string(up) + "A"), std::string::npos) << up;
  }
}

TEST(OnATerminal, ManyPeersHaveNoLinesOfTheirOwn) {
  const support::Scratch scratch;
  const TerminalResult result = hearsay_on_terminal(run_of(9, "run"), scratch.path(), 80, 50);
  ASSERT_EQ(result.status, 0) << result.said;
  EXPECT_NE(result.said.find("rounds/s"), std::string::npos);
  EXPECT_EQ(result.said.find("peer 0"), std::string::npos);
}

TEST(OnATerminal, NoColorTakesTheColoursAlone) {
  const support::Scratch scratch;
  const auto screen_with = [&](const char* variable, const char* out) {
    const TerminalResult result =
        hearsay_on_terminal(run_of(3, out), scratch.path(), 80, 30, {variable});
    EXPECT_EQ(result.status, 0) << result.said;
    Screen screen(80);
    screen.write(result.said);
    return screen;
  };
  const Screen plain = screen_with("NO_COLOR=1", "a");
  EXPECT_FALSE(plain.coloured());
  EXPECT_GT(plain.redraws(), 0u);
  EXPECT_TRUE(screen_with("NO_COLOR=", "b").coloured()) << "empty is as if it were not there";
}

TEST(OnATerminal, ThatCannotMoveItIsAsPiped) {
  const support::Scratch scratch;
  for (const char* variable : {"TERM=dumb", "TERM"}) {
    const std::string out = std::string("run") + variable;
    const TerminalResult result =
        hearsay_on_terminal(run_of(3, out), scratch.path(), 80, 30, {variable});
    EXPECT_EQ(result.status, 0) << result.said;
    EXPECT_EQ(result.said.find('\x1b'), std::string::npos);
    EXPECT_EQ(result.said.find("rounds/s"), std::string::npos);
  }
}

TEST(OnATerminal, AStopLeavesAWholeScreen) {
  const support::Scratch scratch;
  Words words = run_of(4, "run");
  words[8] = "100000000";
  const TerminalResult result =
      hearsay_on_terminal(words, scratch.path(), 80, 30, {}, "rounds/s", SIGINT);
  EXPECT_EQ(result.status, kStopped);
  Screen screen(80);
  screen.write(result.said);
  EXPECT_EQ(lines_with(screen.text(), "rounds/s"), 0u) << screen.text();
  EXPECT_NE(screen.text().find("hearsay: stopped at round"), std::string::npos) << screen.text();
}

TEST(OnATerminal, AFailureLeavesAWholeScreen) {
  const support::Scratch scratch;
  const TerminalResult result = hearsay_on_terminal(
      {"train", "--data", "least-squares:dim=200", "--peers", "4", "--algorithm", "dsgd", "--lr",
       "1e3", "--rounds", "100000", "--out", "run"},
      scratch.path(), 80, 30);
  EXPECT_EQ(result.status, 1);
  Screen screen(80);
  screen.write(result.said);
  EXPECT_EQ(lines_with(screen.text(), "rounds/s"), 0u) << screen.text();
  EXPECT_NE(screen.text().find("\nhearsay: [train] the "), std::string::npos) << screen.text();
}

TEST(Piped, HasNoEscapes) {
  const support::Scratch scratch;
  const Result result = hearsay(run_of(3, "run"), scratch.path());
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(result.out.find('\r'), std::string::npos);
}

}  // namespace
}  // namespace hearsay::cli
