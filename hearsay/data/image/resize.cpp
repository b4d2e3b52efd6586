#include "hearsay/data/image/resize.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace hearsay::data {

namespace {

/// For each output, the inputs it is a weighted mean of: weights[k * taps + t] belongs to input
/// first[k] + t.
struct Triangles {
  Triangles(std::size_t inputs, std::size_t outputs) : first(outputs) {
    const double ratio = static_cast<double>(inputs) / static_cast<double>(outputs);
    const double reach = std::max(ratio, 1.0);
    taps = std::min(inputs, static_cast<std::size_t>(std::ceil(reach)) * 2 + 1);
    weights.assign(outputs * taps, 0.0f);
    std::vector<double> raw(taps);
    for (std::size_t k = 0; k < outputs; ++k) {
      const double centre = (static_cast<double>(k) + 0.5) * ratio;
      const double low =
          std::clamp(std::floor(centre - reach), 0.0, static_cast<double>(inputs - taps));
      first[k] = static_cast<std::size_t>(low);
      double sum = 0;
      for (std::size_t t = 0; t < taps; ++t) {
        const double distance = std::abs(static_cast<double>(first[k] + t) + 0.5 - centre);
        raw[t] = std::max(0.0, 1 - distance / reach);
        sum += raw[t];
      }
      for (std::size_t t = 0; t < taps; ++t) {
        weights[k * taps + t] = static_cast<float>(raw[t] / sum);
      }
    }
  }

  std::vector<std::size_t> first;
  std::size_t taps;
  std::vector<float> weights;
};

}  // namespace

void resize(const Plane& in, std::size_t height, std::size_t width, std::span<float> out) {
  assert(out.size() == height * width && in.height > 0 && in.width > 0);
  const Triangles across(in.width, width);
  std::vector<float> narrow(in.height * width);
  for (std::size_t y = 0; y < in.height; ++y) {
    const float* row = in.data + y * in.stride;
    float* to = narrow.data() + y * width;
    for (std::size_t x = 0; x < width; ++x) {
      const float* weight = across.weights.data() + x * across.taps;
      const float* from = row + across.first[x];
      float sum = 0;
      for (std::size_t t = 0; t < across.taps; ++t) sum += weight[t] * from[t];
      to[x] = sum;
    }
  }
  const Triangles down(in.height, height);
  for (std::size_t y = 0; y < height; ++y) {
    float* to = out.data() + y * width;
    std::fill_n(to, width, 0.0f);
    for (std::size_t t = 0; t < down.taps; ++t) {
      const float weight = down.weights[y * down.taps + t];
      const float* from = narrow.data() + (down.first[y] + t) * width;
      for (std::size_t x = 0; x < width; ++x) to[x] += weight * from[x];
    }
  }
}

}  // namespace hearsay::data
