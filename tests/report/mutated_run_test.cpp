#include <gtest/gtest.h>

#include "fuzz/mutate.h"
#include "hearsay/report/device_table.h"
#include "hearsay/report/page/page.h"
#include "hearsay/run/run.h"
#include "report/run_directories.h"
#include "report/well_formed.h"

namespace hearsay::report {
namespace {

/// A real run with a few bytes of one of its files changed, beside an intact one: the page is still
/// made, shows the intact run, and the damaged one is reported or not changed in anything that
/// matters.
TEST(Page, IsMadeWhateverBytesAFileHolds) {
  const support::Scratch scratch;
  run::Observer silent;
  run::run(support::config_of({{"model", "logistic"},
                               {"graph", "cycle:sparse-push:a+sparse-push:b,every=2"},
                               {"rounds", "8"},
                               {"evaluate", "2"}}),
           scratch / "damaged", silent);
  make_run(scratch / "whole");
  const std::vector<std::string> both = {(scratch / "whole").string(),
                                         (scratch / "damaged").string()};
  Random random(1, Purpose::kTest);
  int left_out = 0, kept = 0;
  for (int i = 0; i < 300; ++i) {
    constexpr const char* kFiles[] = {"config.toml", "metrics.jsonl", "summary.json"};
    const std::filesystem::path file = scratch / "damaged" / kFiles[i % 3];
    const std::string before = support::read_text(file);
    Bytes bytes(before.begin(), before.end());
    mutate(bytes, random);
    support::write_text(file, std::string(bytes.begin(), bytes.end()));
    Page page;
    ASSERT_NO_THROW(page = make_page(both)) << "input " << i;
    ASSERT_GE(page.runs, 1u) << "input " << i;
    ASSERT_TRUE(page.runs == 2 || !page.problems.empty()) << "input " << i;
    if (i % 20 < 3) {
      ASSERT_EQ(misfit_of(page.html), "") << "input " << i;
    }
    (page.runs == 2 ? kept : left_out) += 1;
    support::write_text(file, before);
  }
  EXPECT_GT(left_out, 30);
  EXPECT_GT(kept, 30);  // mutations get past the first check
}

/// The same for the files of a device, which is joined with another one while that is possible.
TEST(Page, IsMadeWhateverBytesAFileOfADeviceHolds) {
  const support::Scratch scratch;
  for (const std::uint32_t slot : {0u, 1u}) {
    const std::string name = slot == 0 ? "whole" : "damaged";
    make_run(scratch / name);
    support::write_text(scratch / name / "peer.toml",
                        run::PlaceInRun{std::string(64, 'a'), name, slot}.to_toml());
    support::write_text(scratch / name / "fleet.json",
                        R"({"self": "whole", "time": 1763553600.25, "peers": [)"
                        R"({"name": "whole", "slot": 0, "status": "training", "live": true,)"
                        R"( "rounds": 7, "rate": 1.5, "push_sum": 1, "bytes": 12, "loss": 0.5},)"
                        R"({"name": "damaged", "status": "left", "live": false}]})");
    support::write_text(scratch / name / "events.jsonl",
                        "{\"time\":1763553600.25,\"event\":\"damaged is connected\"}\n"
                        "{\"time\":1763553601.5,\"event\":\"damaged is gone (silent)\"}\n");
  }
  const std::vector<std::string> both = {(scratch / "whole").string(),
                                         (scratch / "damaged").string()};
  const std::vector<std::string> one = {both[1]};
  Random random(2, Purpose::kTest);
  int joined = 0, apart = 0, problems = 0;
  for (int i = 0; i < 600; ++i) {
    constexpr const char* kFiles[] = {"fleet.json",    "events.jsonl", "peer.toml",
                                      "metrics.jsonl", "summary.json", "config.toml"};
    const std::filesystem::path file = scratch / "damaged" / kFiles[i % 6];
    const std::string before = support::read_text(file);
    Bytes bytes(before.begin(), before.end());
    mutate(bytes, random);
    support::write_text(file, std::string(bytes.begin(), bytes.end()));
    Page page, alone;
    ASSERT_NO_THROW(page = make_page(both)) << "input " << i;
    ASSERT_NO_THROW(alone = make_page(one)) << "input " << i;
    ASSERT_NO_THROW(devices_text(read_runs(both))) << "input " << i;
    ASSERT_NO_THROW(make_fleet_part(scratch / "damaged")) << "input " << i;
    ASSERT_GE(page.runs, 1u) << "input " << i;
    if (i % 30 < 6) {
      ASSERT_EQ(misfit_of(page.html), "") << "input " << i;
      if (alone.runs > 0) {
        ASSERT_EQ(misfit_of(alone.html), "") << "input " << i;
      }
    }
    (page.html.find("<h2>Devices</h2>") == std::string::npos ? apart : joined) += 1;
    problems += page.problems.empty() ? 0 : 1;
    support::write_text(file, before);
  }
  EXPECT_GT(joined, 100);
  EXPECT_GT(apart, 30);
  EXPECT_GT(problems, 50);
}

}  // namespace
}  // namespace hearsay::report
