#include "hearsay/report/page/provenance.h"

#include <gtest/gtest.h>

#include "hearsay/train/run_options.h"
#include "report/run_directories.h"

namespace hearsay::report {
namespace {

using support::Scratch;

TEST(HeadingOf, NamesMethodDataAndPeersWithoutPaths) {
  EXPECT_EQ(heading_of({.peers = 4, .algorithm = "choco:gamma=0.1", .data = "csv:/home/me/a.csv"}),
            "choco on csv, 4 peers");
  EXPECT_EQ(heading_of({.peers = 1, .timing = "asynchronous"}),
            "scsp on digits, 1 asynchronous peer");
}

TEST(CommandOf, HasWhatIsNotTheDefaultAndQuotesIt) {
  EXPECT_EQ(command_of({}), "hearsay train");
  EXPECT_EQ(
      command_of({.peers = 8, .data = "csv:/home/my data/it's.csv", .lr = "0.1", .threads = 3}),
      "hearsay train --peers 8 --data 'csv:/home/my data/it'\\''s.csv' --lr 0.1");
}

TEST(Provenance, SaysWhenWhereAndByWhat) {
  Scratch scratch;
  make_run(scratch / "a", "ring",
           R"(, "ended": "2026-11-19T23:58:00Z", "host": "<node>", "version": "1.2")");
  make_run(scratch / "b", "ring", R"(, "ended": "2026-11-20T01:02:03Z", "host": "other")");
  make_run(scratch / "old");
  std::vector<std::string> names;
  for (const char* name : {"a", "b", "old"}) names.push_back((scratch / name).string());
  const Runs runs = read_runs(names);
  const std::string one = provenance(std::span(runs.runs).first(1));
  EXPECT_TRUE(holds(one, "<dt>run</dt><dd>" + names[0] + "</dd>")) << one;
  EXPECT_TRUE(holds(one, "<dt>ended</dt><dd>2026-11-19 23:58 UTC</dd>"));
  EXPECT_TRUE(holds(one, "<dt>host</dt><dd>&lt;node&gt;</dd>"));
  EXPECT_TRUE(holds(one, "<dt>version</dt><dd>1.2</dd>"));
  const std::string all = provenance(runs.runs);
  EXPECT_FALSE(holds(all, "<dt>run</dt>")) << all;
  EXPECT_TRUE(holds(all, "2026-11-19 23:58 UTC to 2026-11-20 01:02 UTC"));
  EXPECT_TRUE(holds(all, "&lt;node&gt;, other"));
  const std::string old = provenance(std::span(runs.runs).last(1));
  EXPECT_FALSE(holds(old, "ended") || holds(old, "host")) << "of a version that recorded neither";
}

}  // namespace
}  // namespace hearsay::report
