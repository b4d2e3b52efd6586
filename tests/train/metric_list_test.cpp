#include "hearsay/train/metric_list.h"

#include <gtest/gtest.h>

namespace hearsay::train {
namespace {

using engine::Metric;

constexpr Metric kRows[] = {{.key = "rmse",
                             .name = "RMSE",
                             .label = "RMSE",
                             .axis_unit = "target units",
                             .better = Metric::Better::kSmaller,
                             .digits = 4,
                             .significant = true,
                             .meaning = "root of the mean squared error"},
                            {.key = "share",
                             .name = "share",
                             .label = "part",
                             .unit = "%",
                             .digits = 1,
                             .full = 100,
                             .log = true,
                             .on_samples = false,
                             .by_peer = false,
                             .mean_key = "share_all",
                             .meaning = "made up",
                             .note = "A note."}};

void expect_same(const Metric& a, const Metric& b) {
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.unit, b.unit);
  EXPECT_EQ(a.axis_unit, b.axis_unit);
  EXPECT_EQ(a.better, b.better);
  EXPECT_EQ(a.digits, b.digits);
  EXPECT_EQ(a.significant, b.significant);
  EXPECT_EQ(a.full, b.full);
  EXPECT_EQ(a.log, b.log);
  EXPECT_EQ(a.on_samples, b.on_samples);
  EXPECT_EQ(a.by_peer, b.by_peer);
  EXPECT_EQ(a.mean_key, b.mean_key);
  EXPECT_EQ(a.meaning, b.meaning);
  EXPECT_EQ(a.note, b.note);
}

TEST(MetricList, ReadsWhatDescribeWrites) {
  MetricList copy;
  {
    const MetricList list(describe(kRows));
    copy = list;
  }
  ASSERT_EQ(copy.rows().size(), 2u);
  expect_same(copy.rows()[0], kRows[0]);
  expect_same(copy.rows()[1], kRows[1]);
}

TEST(MetricList, OfAnOlderVersionIsAllThatThereWas) {
  for (const char* json : {"", "null", "7", "{}", "[1"}) {
    const MetricList list(json);
    ASSERT_EQ(list.rows().size(), engine::known_metrics().size()) << json;
    expect_same(list.rows()[0], engine::known_metrics()[0]);
  }
  EXPECT_TRUE(MetricList("[]").rows().empty()) << "the run says that it has none";
}

TEST(MetricList, LeavesOutRowsThatAreDamagedOrWouldDoHarm) {
  const std::string long_text(MetricList::kMostText + 1, 'x');
  const std::string rows =
      R"([1, {}, {"key": 7}, {"key": "a b"}, {"key": "<b>"}, {"key": ""}, {"key": "loss"},
      {"key": "escape", "name": "\u001b[2J"}, {"key": "x", "mean_key": "\"><"},
      {"key": "long", "note": ")" +
      long_text + R"("},
      {"key": "good", "digits": 1e300, "better": 3, "full": "much", "log": 1, "name": []},
      {"key": "good", "name": "twice"}])";
  const MetricList list(rows);
  ASSERT_EQ(list.rows().size(), 1u);
  const Metric& good = list.rows()[0];
  expect_same(good, {.key = "good", .name = "good", .label = "good"});
}

TEST(MetricList, HasNoMoreRowsThanItsLimit) {
  std::string rows = "[";
  for (int i = 0; i < 100; ++i) {
    rows += (i == 0 ? R"({"key": "m)" : R"(, {"key": "m)") + std::to_string(i) + R"("})";
  }
  EXPECT_EQ(MetricList(rows + "]").rows().size(), MetricList::kMost);
}

TEST(MetricList, AddsWhatIsNotThereYet) {
  MetricList list;
  list.add(kRows);
  list.add(engine::known_metrics());
  list.add(kRows);
  ASSERT_EQ(list.rows().size(), 1 + engine::known_metrics().size()) << "rmse is known too";
  EXPECT_EQ(list.rows()[0].key, "rmse");
  EXPECT_EQ(list.rows()[2].key, engine::known_metrics()[0].key);
}

}  // namespace
}  // namespace hearsay::train
