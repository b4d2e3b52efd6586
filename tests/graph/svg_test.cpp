#include "hearsay/graph/svg.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "graph/matrices.h"
#include "hearsay/core/error.h"
#include "hearsay/graph/spectrum/periodic.h"

namespace hearsay::graph {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

/// Whether tags are balanced.
bool is_well_formed(std::string_view text) {
  std::vector<std::string> open;
  for (std::size_t at = 0; (at = text.find('<', at)) != text.npos;) {
    const std::size_t end = text.find('>', at);
    if (end == text.npos) return false;
    const std::string_view tag = text.substr(at + 1, end - at - 1);
    const std::string name(tag.substr(tag.starts_with('/'), tag.find(' ') - tag.starts_with('/')));
    at = end;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != name) return false;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
  }
  return open.empty();
}

TEST(Svg, HasAnArrowForOneWayAndALineForBoth) {
  const std::string one = svg(Weights(2, {{0, 1, 0.5}}), "one");
  EXPECT_TRUE(is_well_formed(one)) << one;
  EXPECT_EQ(count(one, "<circle"), 2u);
  EXPECT_EQ(count(one, "class=\"edge\""), 1u);
  EXPECT_EQ(count(one, "class=\"head\""), 1u);
  EXPECT_EQ(count(one, "<title>0 to 1, weight 0.5</title>"), 1u);
  const std::string both = svg(Weights(2, {{0, 1, 0.5}, {1, 0, 0.5}}), "both");
  EXPECT_EQ(count(both, "class=\"edge\""), 1u);
  EXPECT_EQ(count(both, "class=\"head\""), 0u);
  EXPECT_EQ(count(both, "0 to 1, weight 0.5; 1 to 0, weight 0.5"), 1u);
}

TEST(Svg, HasEdgesAsWideAsTheyCount) {
  SvgStyle style;
  style.amount = [](const Edge& edge) {
    return edge.sender == 0 ? 100.0 : edge.sender == 1 ? 50.0 : 1.0;
  };
  style.more = [](const Edge& edge) { return fmt::format(", {} B", edge.sender); };
  const std::string ring = svg(weights_of("ring:directed", 3), "ring", style);
  EXPECT_EQ(count(ring, "data-edge=\"0-1\" stroke-width=\"5.00\""), 1u) << ring;
  EXPECT_EQ(count(ring, "data-edge=\"1-2\" stroke-width=\"2.50\""), 1u);
  EXPECT_EQ(count(ring, "data-edge=\"2-0\" stroke-width=\"1.00\""), 1u)
      << "none is too thin to see";
  EXPECT_EQ(count(ring, ", weight 0.5, 2 B</title>"), 1u);
}

TEST(Svg, SharesAScaleWithOtherPictures) {
  SvgStyle style{.amount = [](const Edge&) { return 50.0; }, .most = 200};
  const std::string ring = svg(weights_of("ring:directed", 3), "ring", style);
  EXPECT_EQ(count(ring, "stroke-width=\"1.25\""), 3u) << ring;
  style.most = 50;
  EXPECT_EQ(count(svg(weights_of("ring:directed", 3), "ring", style), "stroke-width=\"5.00\""), 3u);
}

TEST(Svg, BendsOppositeEdgesOfUnequalWidth) {
  SvgStyle style;
  style.amount = [](const Edge& edge) { return edge.sender == 0 ? 3.0 : 1.0; };
  const std::string both = svg(Weights(2, {{0, 1, 0.5}, {1, 0, 0.5}}), "both", style);
  EXPECT_EQ(count(both, "class=\"edge\""), 2u);
  EXPECT_EQ(count(both, "class=\"head\""), 2u);
}

TEST(Svg, PlacesPeersAsTheirGraphSuggests) {
  EXPECT_EQ(shape_of("torus:2x6", 12).columns, 6u);
  EXPECT_EQ(shape_of("grid:size=3x5,weights=lazy", 15).columns, 5u);
  EXPECT_EQ(shape_of("torus", 16).columns, 4u);
  EXPECT_EQ(shape_of("grid", 7).columns, 7u);
  EXPECT_EQ(shape_of("star", 5).kind, Shape::Kind::kStar);
  EXPECT_EQ(shape_of("exponential", 5).kind, Shape::Kind::kCircle);
  const std::string grid =
      svg(weights_of("grid:2x2", 4), "grid", {.shape = shape_of("grid:2x2", 4)});
  EXPECT_EQ(count(grid, "cx=\"44.0\""), 2u) << grid;
}

/// Within dots that have room for them, beside smaller ones, and of many peers some.
TEST(Svg, NumbersThePeers) {
  const std::string few = svg(weights_of("ring", 16), "ring");
  EXPECT_EQ(count(few, "<text "), 16u);
  EXPECT_EQ(count(few, "class=\"beside\""), 0u);
  const std::string many = svg(weights_of("ring", 64), "ring");
  EXPECT_EQ(count(many, "class=\"beside\""), 64u);
  EXPECT_EQ(count(many, ">63</text>"), 1u);
  const std::string more = svg(weights_of("ring", 300), "ring");
  EXPECT_EQ(count(more, "class=\"beside\""), 60u);
  EXPECT_EQ(count(more, ">295</text>"), 1u);
  const std::string star = svg(weights_of("star", 64), "star", {.shape = shape_of("star", 64)});
  EXPECT_EQ(count(star, "class=\"beside\""), 64u);
}

TEST(Svg, EscapesItsTitle) {
  EXPECT_EQ(count(svg(Weights(1, {}), "</svg><script>"), "<script"), 0u);
}

TEST(Svg, RefusesWhatNobodyCouldSee) {
  EXPECT_THROW(svg(weights_of("complete", 100), "complete"), InvalidArgument);
}

TEST(SvgFile, ShowsEachPhaseOnce) {
  const auto cycle =
      make_schedule("cycle:sparse-push:a+sparse-push:b+sparse-push:c,every=5", {4, 1});
  EXPECT_EQ(phases(*cycle).size(), 3u);
  const std::string file = svg_file(*cycle, "cycle:<a>");
  EXPECT_TRUE(is_well_formed(file)) << file;
  EXPECT_EQ(count(file, "<svg "), 4u);
  EXPECT_EQ(count(file, ">2 of 3</text>"), 1u);
  EXPECT_EQ(count(file, "<title>cycle:&lt;a&gt;</title>"), 4u);
}

TEST(SvgFile, OfALongPeriodSaysHowMuchIsLeftOut) {
  const auto schedule = make_schedule("one-peer-exponential", {1 << 14, 1});
  EXPECT_THROW(svg_file(*schedule, "many peers"), InvalidArgument);
  std::vector<Weights> matrices;
  for (std::uint32_t k = 1; k < 15; ++k) matrices.emplace_back(16, std::vector<Edge>{{0, k, 0.5}});
  const std::string file = svg_file(*make_periodic(matrices), "14 graphs");
  EXPECT_EQ(count(file, "<svg "), 13u);
  EXPECT_EQ(count(file, "12 of 14, and 2 more</text>"), 1u);
}

}  // namespace
}  // namespace hearsay::graph
