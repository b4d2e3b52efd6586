#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "hearsay/report/page/assets.h"
#include "hearsay/report/page/charts.h"

/// The colours of pages, from their style sheet: distinguishable for everyone, and from the
/// background.
namespace hearsay::report {
namespace {

using Colour = std::array<double, 3>;  // linear red, green, blue
using Matrix = std::array<std::array<double, 3>, 3>;

Colour multiply(const Matrix& m, const Colour& c) {
  Colour out{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) out[i] += m[i][j] * c[j];
  }
  return out;
}

/// "--c1: #3c489c" at or after `from`.
Colour variable(const std::string& name, std::size_t from) {
  const std::string_view css = assets::kPageCss;
  const std::size_t at = css.find("--" + name + ": #", from) + name.size() + 5;
  Colour colour{};
  for (std::size_t k = 0; k < 3; ++k) {
    int value = -1;
    std::from_chars(css.data() + at + 2 * k, css.data() + at + 2 * k + 2, value, 16);
    EXPECT_GE(value, 0) << name;
    const double s = value / 255.0;
    colour[k] = s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  }
  return colour;
}

/// Björn Ottosson, "A perceptual color space for image processing", 2020.
Colour oklab(const Colour& rgb) {
  constexpr Matrix kCones{{{0.4122214708, 0.5363325363, 0.0514459929},
                           {0.2119034982, 0.6806995451, 0.1073969566},
                           {0.0883024619, 0.2817188376, 0.6299787005}}};
  constexpr Matrix kLab{{{0.2104542553, 0.7936177850, -0.0040720468},
                         {1.9779984951, -2.4285922050, 0.4505937099},
                         {0.0259040371, 0.7827717662, -0.8086757660}}};
  Colour cones = multiply(kCones, rgb);
  for (double& cone : cones) cone = std::cbrt(cone);
  return multiply(kLab, cones);
}

/// Vision without the long, middle and short cones: Machado, Oliveira, Fernandes 2009, severity 1.
constexpr Matrix kEyes[] = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                            {{{0.152286, 1.052583, -0.204868},
                              {0.114503, 0.786281, 0.099216},
                              {-0.003882, -0.048116, 1.051998}}},
                            {{{0.367322, 0.860646, -0.227968},
                              {0.280085, 0.672501, 0.047413},
                              {-0.011820, 0.042940, 0.968881}}},
                            {{{1.255528, -0.076749, -0.178779},
                              {-0.078411, 0.930809, 0.147602},
                              {0.004733, 0.691367, 0.303900}}}};

double distance(const Colour& a, const Colour& b) {
  double least = 9;
  for (const Matrix& eye : kEyes) {
    Colour x = multiply(eye, a), y = multiply(eye, b);
    for (double& v : x) v = std::clamp(v, 0.0, 1.0);
    for (double& v : y) v = std::clamp(v, 0.0, 1.0);
    const Colour p = oklab(x), q = oklab(y);
    least = std::min(least, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
  }
  return least;
}

double contrast(const Colour& a, const Colour& b) {
  const auto light = [](const Colour& c) { return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
  const double high = std::max(light(a), light(b)), low = std::min(light(a), light(b));
  return (high + 0.05) / (low + 0.05);
}

class Palette : public ::testing::TestWithParam<const char*> {
 protected:
  std::size_t from() const { return assets::kPageCss.find(GetParam()); }
};

TEST_P(Palette, HasCurvesThatEveryEyeTellsApart) {
  std::vector<Colour> curves;
  for (int k = 0; k < 8; ++k) curves.push_back(variable("c" + std::to_string(k), from()));
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GE(distance(curves[i], curves[j]), 0.1) << "c" << i << " and c" << j;
    }
    EXPECT_GE(contrast(curves[i], variable("card", from())), 3.0) << "c" << i;
  }
}

/// Ink (colour 0) is drawn with dashes 0 and 1: the averaged model and the mean of the peers.
TEST_P(Palette, HasNearColoursWithDifferentDashes) {
  std::vector<std::pair<Colour, std::size_t>> looks;
  for (std::size_t dash : {0, 1}) looks.emplace_back(variable("c0", from()), dash);
  for (std::size_t k = 0; k < kColours; ++k) {
    Curve curve;
    paint(curve, k);
    looks.emplace_back(variable("c" + std::to_string(curve.colour), from()), curve.dash);
  }
  for (std::size_t i = 0; i < looks.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (looks[i].second != looks[j].second) continue;
      EXPECT_GE(distance(looks[i].first, looks[j].first), 0.15) << "looks " << i << " and " << j;
    }
  }
}

TEST_P(Palette, HasTextThatCanBeRead) {
  for (const char* paper : {"card", "paper"}) {
    EXPECT_GE(contrast(variable("ink", from()), variable(paper, from())), 7.0) << paper;
    EXPECT_GE(contrast(variable("soft", from()), variable(paper, from())), 4.5) << paper;
  }
  EXPECT_GE(contrast(variable("on-accent", from()), variable("accent", from())), 4.5);
}

INSTANTIATE_TEST_SUITE_P(Screens, Palette,
                         ::testing::Values("color-scheme: light", "prefers-color-scheme: dark"),
                         [](const auto& test) { return test.index == 0 ? "light" : "dark"; });

}  // namespace
}  // namespace hearsay::report
