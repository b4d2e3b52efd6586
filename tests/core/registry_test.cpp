#include "hearsay/core/registry.h"

#include <gtest/gtest.h>

#include "support/message_of.h"

namespace hearsay {
namespace {

struct Shape {
  std::string kind;
  double peers;
};

struct ShapeEntry : Row<Shape(double scale)> {
  bool is_round;
};

Shape make_shape(const Arguments& arguments, double scale) {
  return {std::string(arguments.name()), scale * arguments.number_in_range("size")};
}

constexpr Parameter kSize[] = {{"size", "3", "[1, 9]", "peers"}};
constexpr ShapeEntry kRows[] = {
    {{"ring", "ring:4", "a circle", kSize, make_shape}, true},
    {{"star", "star", "peer 0 and all others", kSize, make_shape}, false},
};

Registry<ShapeEntry> registry() { return {"graph", kRows}; }

using support::message_of;

TEST(Registry, MakesWhatASpecNames) {
  const Shape shape = registry().make("star:size=5", 2);
  EXPECT_EQ(shape.kind, "star");
  EXPECT_EQ(shape.peers, 10);
  EXPECT_EQ(registry().make("ring", 1).peers, 3);
  EXPECT_EQ(registry().arguments("ring").resolved(), "ring:size=3");
  EXPECT_EQ(message_of([] { registry().make("ring:10", 1); }),
            "[ring] size must be in [1, 9], got 10");
}

TEST(Registry, FindsRowsByTheNameOfASpec) {
  EXPECT_TRUE(registry().find("ring:4").is_round);
  EXPECT_EQ(&registry().find("star"), &kRows[1]);
  EXPECT_TRUE(registry().contains("star:2"));
  EXPECT_FALSE(registry().contains("sta"));
}

TEST(Registry, AnUnknownNameIsToldWithTheNearestAndAllThereIs) {
  EXPECT_EQ(message_of([] { registry().find("rnig:3"); }),
            "[graph] no graph is named 'rnig' (did you mean 'ring'?); there are ring, star");
  EXPECT_EQ(message_of([] { registry().make("hypercube", 1); }),
            "[graph] no graph is named 'hypercube'; there are ring, star");
}

TEST(Registry, IsARangeOfItsRows) {
  EXPECT_EQ(registry().size(), 2U);
  std::string names;
  for (const ShapeEntry& entry : registry()) names += entry.name;
  EXPECT_EQ(names, "ringstar");
  EXPECT_EQ(std::ranges::find(registry(), false, &ShapeEntry::is_round)->name, "star");
}

}  // namespace
}  // namespace hearsay
