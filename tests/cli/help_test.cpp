#include "cli/terminal/help.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/process.h"
#include "cli/screen.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

const Words kCommands{"train", "sweep", "graph",  "cost", "list",     "report",
                      "watch", "eval",  "export", "peer", "identity", "help"};

class Help : public ::testing::Test {
 protected:
  std::string output(const Words& arguments) {
    const Result result = hearsay(arguments, scratch_.path());
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.err, "");
    return result.out;
  }

  support::Scratch scratch_;
};

TEST(Wrapped, BreaksAtBlanks) {
  EXPECT_EQ(wrapped("one two three", 0, 2, 7), "one two\n  three");
  EXPECT_EQ(wrapped("one two three", 3, 3, 10), "one two\n   three") << "the first line is begun";
  EXPECT_EQ(wrapped("  one\n two ", 0, 0, 80), "one two");
  EXPECT_EQ(wrapped("a quitelongword b", 0, 0, 5), "a\nquitelongword\nb");
  EXPECT_EQ(wrapped("", 0, 0, 5), "");
  EXPECT_EQ(wrapped("is a=1,b=2,c=3 or", 0, 1, 9), "is\n a=1,b=2,\n c=3 or");
}

TEST_F(Help, FitsAHundredColumnsWhereThereIsNoTerminal) {
  for (const std::string& command : kCommands) {
    std::istringstream lines(output({command, "--help"}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100u) << command << ": " << line;
    }
  }
}

TEST_F(Help, FitsTheTerminal) {
  for (const int width : {60, 120}) {
    const TerminalResult result =
        hearsay_on_terminal({"train", "--help"}, scratch_.path(), width, 50);
    ASSERT_EQ(result.status, 0) << result.said;
    Screen screen(width);
    screen.write(result.said);
    EXPECT_FALSE(screen.wrapped()) << screen.text();
    std::size_t longest = 0;
    for (const std::string& line : screen.lines()) longest = std::max(longest, line.size());
    EXPECT_GT(longest, static_cast<std::size_t>(width) - 15) << "the width is used";
  }
}

TEST_F(Help, IsWhatTheCommandHelpPrintsToo) {
  EXPECT_EQ(output({"help"}), output({"--help"}));
  for (const std::string& command : kCommands) {
    EXPECT_EQ(output({"help", command}), output({command, "--help"}));
  }
  EXPECT_EQ(output({"help", "identity", "new"}), output({"identity", "new", "--help"}));
}

TEST_F(Help, CallsPeersAndAddressesTheSameEverywhere) {
  for (const char* command : {"train", "sweep", "graph", "cost"}) {
    EXPECT_NE(output({command, "--help"}).find("-n,--peers N"), std::string::npos) << command;
  }
  for (const char* command : {"train", "peer", "watch"}) {
    EXPECT_NE(output({command, "--help"}).find("--address"), std::string::npos) << command;
  }
}

}  // namespace
}  // namespace hearsay::cli
