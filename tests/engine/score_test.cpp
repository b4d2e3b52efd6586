#include "hearsay/engine/score.h"

#include <gtest/gtest.h>

#include <set>

namespace hearsay::engine {
namespace {

/// The names in the files of all versions.
TEST(MetricKeys, AreStable) {
  const MetricKeys accuracy = keys_of(kAccuracy);
  EXPECT_EQ(accuracy.mean, "accuracy_mean");
  EXPECT_EQ(accuracy.min, "accuracy_min");
  EXPECT_EQ(accuracy.max, "accuracy_max");
  EXPECT_EQ(accuracy.averaged, "accuracy_of_average");
  EXPECT_EQ(accuracy.by_peer, "accuracy");
  EXPECT_EQ(accuracy.validation_mean, "validation_accuracy_mean");
  EXPECT_EQ(accuracy.validation_averaged, "validation_accuracy_of_average");
  EXPECT_EQ(keys_of(kDistance).mean, "distance_to_optimum");
  EXPECT_EQ(keys_of(kDistance).averaged, "distance_of_average");
}

TEST(Metric, SaysWhichValueIsBetterAndWhichPeerTheWorst) {
  EXPECT_TRUE(is_better(kAccuracy, 90, 80));
  EXPECT_FALSE(is_better(kAccuracy, 80, 80));
  EXPECT_TRUE(is_better(kDistance, 0.1, 0.2));
  EXPECT_EQ(keys_of(kAccuracy).worst(kAccuracy), "accuracy_min");
  EXPECT_EQ(keys_of(kDistance).worst(kDistance), "distance_max");
}

TEST(Metric, SaysHowAValueIsPrinted) {
  EXPECT_EQ(format_value(kAccuracy, 86.754), "86.75");
  EXPECT_EQ(format_value(kDistance, 0.00012345), "0.000123");
  EXPECT_EQ(axis_unit(kAccuracy), "%");
  EXPECT_EQ(axis_unit(kDistance), "");
  EXPECT_EQ(axis_unit({.key = "rmse", .axis_unit = "target units"}), "target units");
}

TEST(KnownMetrics, HaveANameALabelAMeaningAndAKeyOfTheirOwn) {
  std::set<std::string> names;
  for (const Metric& metric : known_metrics()) {
    SCOPED_TRACE(metric.key);
    EXPECT_FALSE(metric.name.empty() || metric.label.empty() || metric.meaning.empty());
    EXPECT_EQ(metric.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string_view::npos);
    const MetricKeys keys = keys_of(metric);
    for (const std::string& name : {keys.mean, keys.min, keys.max, keys.averaged, keys.by_peer,
                                    keys.validation_mean, keys.validation_averaged}) {
      EXPECT_TRUE(names.insert(name).second) << name;
    }
  }
}

}  // namespace
}  // namespace hearsay::engine
