#include <gtest/gtest.h>

#include "fuzz/mutate.h"
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

}  // namespace
}  // namespace hearsay::report
