#include "hearsay/report/table.h"

#include <gtest/gtest.h>

namespace hearsay::report {
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

TEST(RunTable, LeavesOutWhatTheRunDoesNotHave) {
  EXPECT_EQ(run_table(R"({"peers": 4, "loss": 0.5, "bytes_total": 1500, "global_bytes_total": 0})"),
            "peers  loss  bytes sent\n"
            "-----------------------\n"
            "4       0.5      1.5 kB\n");
}

TEST(CompareRuns, NamesWhatItLeavesOut) {
  const Comparison comparison = compare_runs(std::vector<std::string>{"/nowhere"});
  EXPECT_EQ(comparison.runs, 0u);
  EXPECT_EQ(comparison.table, "");
  EXPECT_EQ(comparison.problems,
            std::vector<std::string>{"[report] /nowhere holds no run: there is no directory"});
}

TEST(RunTable, CountsGlobalAveragesAndShowsValidation) {
  EXPECT_EQ(run_table(R"({"peers": 4, "validation_accuracy_mean": 81.5, "bytes_total": 500,)"
                      R"( "global_bytes_total": 1000})"),
            "peers  validation %  bytes sent  of it global\n"
            "---------------------------------------------\n"
            "4             81.50      1.5 kB          1 kB\n");
}

}  // namespace
}  // namespace hearsay::report
