#include "hearsay/report/find_runs.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "report/run_directories.h"

namespace hearsay::report {
namespace {

namespace fs = std::filesystem;
using support::Scratch;
using Paths = std::vector<fs::path>;

TEST(FindRuns, LooksBelowADirectory) {
  Scratch scratch;
  make_run(scratch / "b/seed-1");
  make_run(scratch / "b/seed-2");
  make_run(scratch / "a");
  make_run(scratch / "a/compare/alone");  // a baseline: of that run
  make_run(scratch / ".hidden");
  fs::create_directories(scratch / "empty/also");
  const FoundRuns found = find_runs(scratch.path());
  EXPECT_EQ(found.runs, (Paths{scratch / "a", scratch / "b/seed-1", scratch / "b/seed-2"}));
  EXPECT_TRUE(found.sweeps.empty());
  EXPECT_TRUE(found.problems.empty());
  EXPECT_EQ(find_runs(scratch / "a").runs, Paths{scratch / "a"}) << "the run itself";
}

TEST(FindRuns, TakesASweepForTheDirectoriesBesideIt) {
  Scratch scratch;
  make_run(scratch / "table/one-s1");
  support::write_text(scratch / "table/t.sweep.json", "{}");
  make_run(scratch / "own");
  const FoundRuns found = find_runs(scratch.path());
  EXPECT_EQ(found.runs, Paths{scratch / "own"});
  EXPECT_EQ(found.sweeps, Paths{scratch / "table/t.sweep.json"});
}

TEST(FindRuns, FollowsLinksAndVisitsEachDirectoryOnce) {
  Scratch scratch;
  make_run(scratch / "real/run");
  fs::create_directories(scratch / "runs/deep");
  fs::create_directory_symlink(scratch / "runs", scratch / "runs/deep/loop");
  fs::create_directory_symlink(scratch / "runs/self", scratch / "runs/self");
  fs::create_directory_symlink(scratch / "real", scratch / "runs/linked");
  fs::create_directory_symlink(scratch / "real/run", scratch / "runs/twice");
  EXPECT_EQ(find_runs(scratch / "runs").runs, Paths{scratch / "runs/linked/run"});
}

TEST(FindRuns, StopsAtALimitAndSaysSo) {
  Scratch scratch;
  fs::path deep = scratch.path();
  for (int level = 0; level < kDeepestRuns; ++level) deep /= "d";
  make_run(deep);
  make_run(deep / "../e/too/deep");
  const FoundRuns found = find_runs(scratch.path());
  EXPECT_EQ(found.runs, Paths{deep});
  ASSERT_EQ(found.problems.size(), 1u);
  EXPECT_TRUE(holds(found.problems[0], "more than 8 levels below it is not looked at"))
      << found.problems[0];
}

TEST(FindRuns, FindsNothingWhereNothingIs) {
  Scratch scratch;
  EXPECT_TRUE(find_runs(scratch.path()).runs.empty());
  EXPECT_TRUE(find_runs(scratch / "nowhere").runs.empty());
}

}  // namespace
}  // namespace hearsay::report
