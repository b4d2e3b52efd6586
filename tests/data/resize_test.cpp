#include "hearsay/data/image/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hearsay/core/random.h"

namespace hearsay::data {
namespace {

std::vector<float> noise(std::size_t count) {
  Random random(1, Purpose::kTest);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

std::vector<float> resized(const std::vector<float>& in, std::size_t height, std::size_t width,
                           std::size_t to_height, std::size_t to_width) {
  std::vector<float> out(to_height * to_width);
  resize({in.data(), height, width, width}, to_height, to_width, out);
  return out;
}

/// The mean of all pixels, weighted by a triangle around the output's centre, in both dimensions at
/// once.
double naive(const std::vector<float>& in, std::size_t height, std::size_t width,
             std::size_t to_height, std::size_t to_width, std::size_t y, std::size_t x) {
  const auto weight = [](std::size_t from, std::size_t size, std::size_t to, std::size_t out) {
    const double ratio = static_cast<double>(size) / static_cast<double>(out);
    const double centre = (static_cast<double>(to) + 0.5) * ratio;
    return std::max(0.0,
                    1 - std::abs(static_cast<double>(from) + 0.5 - centre) / std::max(1.0, ratio));
  };
  double sum = 0;
  double weights = 0;
  for (std::size_t v = 0; v < height; ++v) {
    for (std::size_t u = 0; u < width; ++u) {
      const double w = weight(v, height, y, to_height) * weight(u, width, x, to_width);
      weights += w;
      sum += w * static_cast<double>(in[v * width + u]);
    }
  }
  return sum / weights;
}

TEST(Resize, EqualsItsDefinitionForAllSizes) {
  for (const std::size_t height : {1u, 2u, 5u, 13u}) {
    for (const std::size_t width : {1u, 3u, 8u}) {
      const std::vector<float> in = noise(height * width);
      for (const std::size_t to_height : {1u, 2u, 4u, 7u, 30u}) {
        for (const std::size_t to_width : {1u, 3u, 11u}) {
          const auto out = resized(in, height, width, to_height, to_width);
          for (std::size_t k = 0; k < out.size(); ++k) {
            ASSERT_NEAR(out[k],
                        naive(in, height, width, to_height, to_width, k / to_width, k % to_width),
                        1e-5);
          }
        }
      }
    }
  }
}

TEST(Resize, ToTheSameSizeChangesNothing) {
  const std::vector<float> in = noise(35);
  EXPECT_EQ(resized(in, 5, 7, 5, 7), in);
}

TEST(Resize, DoublesAsPilDoes) {
  EXPECT_EQ(resized({0, 100}, 1, 2, 1, 4), (std::vector<float>{0, 25, 75, 100}));
}

TEST(Resize, ReadsAPartOfALargerPlane) {
  const std::vector<float> in = noise(100);
  std::vector<float> part;
  for (std::size_t k = 0; k < 12; ++k) part.push_back(in[(2 + k / 4) * 10 + 3 + k % 4]);
  std::vector<float> out(6);
  resize({in.data() + 23, 3, 4, 10}, 2, 3, out);
  EXPECT_EQ(out, resized(part, 3, 4, 2, 3));
}

}  // namespace
}  // namespace hearsay::data
