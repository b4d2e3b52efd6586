#include "hearsay/report/page/looks.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include <fmt/format.h>

#include "report/run_directories.h"

namespace hearsay::report {
namespace {

/// A sweep whose rows are all combinations of so many values of each axis.
Runs crossed(const std::vector<std::size_t>& values) {
  ShownSweep shown;
  std::vector<std::size_t> at(values.size(), 0);
  for (std::size_t axis = 0; axis < values.size();) {
    sweep::SweepRow row;
    for (std::size_t k = 0; k < values.size(); ++k) {
      row.place.emplace_back(fmt::format("axis {}", k), fmt::format("{}", at[k]));
      row.label += fmt::format("{}axis {} {}", k == 0 ? "" : ", ", k, at[k]);
    }
    shown.record.sweep.rows.push_back(std::move(row));
    for (axis = 0; axis < values.size() && ++at[axis] == values[axis]; ++axis) at[axis] = 0;
  }
  Runs runs;
  runs.sweeps.push_back(std::move(shown));
  return runs;
}

TEST(Looks, HaveAnAxisByColourOneByDashAndOneByMark) {
  const Looks two = looks_of(crossed({3, 4}));
  ASSERT_EQ(two.of_label.size(), 12u);
  EXPECT_EQ(two.note, "Colour: axis 1; dash: axis 0.") << "the longest by colour";
  const Looks::Look& look = two.of_label.at("axis 0 2, axis 1 3");
  EXPECT_EQ(look.colour, 4u);
  EXPECT_EQ(look.dash, 2u);
  EXPECT_EQ(look.name, "2, 3");

  const Looks three = looks_of(crossed({kColours, kDashes, 3}));
  EXPECT_EQ(three.note, "Colour: axis 0; dash: axis 1; mark: axis 2.");
  std::set<std::tuple<std::size_t, std::size_t, std::size_t>> all;
  for (const auto& [label, each] : three.of_label) all.emplace(each.colour, each.dash, each.mark);
  EXPECT_EQ(all.size(), kColours * kDashes * 3) << "no two rows look alike";
}

TEST(Looks, AreOfRowsOnTheSameFewAxes) {
  EXPECT_TRUE(looks_of({}).of_label.empty());
  EXPECT_TRUE(looks_of(crossed({5})).of_label.empty()) << "one axis: by number";
  EXPECT_TRUE(looks_of(crossed({5, 1})).of_label.empty()) << "an axis of one value is none";
  EXPECT_TRUE(looks_of(crossed({2, 2, 2, 2})).of_label.empty());
  EXPECT_TRUE(looks_of(crossed({kColours + 1, 2})).of_label.empty());
  EXPECT_TRUE(looks_of(crossed({kColours, kDashes + 1})).of_label.empty());
  Runs uneven = crossed({2, 2});
  uneven.sweeps[0].record.sweep.rows[1].place.pop_back();
  EXPECT_TRUE(looks_of(uneven).of_label.empty());
  Runs several = crossed({2, 2});
  several.sweeps.push_back(crossed({2, 2}).sweeps[0]);
  EXPECT_TRUE(looks_of(several).of_label.empty());
}

TEST(Looks, AreGivenToWhatARowNames) {
  const Looks looks = looks_of(crossed({2, 3}));
  Curve of_row, other;
  of_row.name = "axis 0 1, axis 1 2";
  other.name = "other";
  std::vector<Chart> charts{{"loss", "Loss", "A note.", "Loss", false, "", {of_row, other}},
                            {"bytes", "Bytes", "", "Bytes", false, "", {other}}};
  looks.apply(charts);
  EXPECT_EQ(charts[0].curves[0].name, "1, 2");
  EXPECT_EQ(charts[0].curves[0].colour, 3u);
  EXPECT_EQ(charts[0].curves[0].dash, 1u);
  EXPECT_EQ(charts[0].curves[1].name, "other");
  EXPECT_EQ(charts[0].note, "A note. Colour: axis 1; dash: axis 0.");
  EXPECT_EQ(charts[1].note, "");
  Scatter scatter;
  scatter.points.push_back({.name = of_row.name});
  looks.apply(scatter);
  EXPECT_EQ(scatter.points[0].name, "1, 2");
}

}  // namespace
}  // namespace hearsay::report
