#include "hearsay/report/table.h"

#include <gtest/gtest.h>

namespace hearsay::report {
namespace {

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
