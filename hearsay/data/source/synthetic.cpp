#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"
#include "hearsay/data/image/resize.h"
#include "hearsay/data/source/sources.h"

namespace hearsay::data {

namespace {

constexpr std::size_t kGrid = 4;  // a prototype is a kGrid x kGrid grid of normals, upsampled
constexpr double kMostBytes = 0x1p36;

// Streams of Purpose::kProblem, used as the peer index.
constexpr std::uint32_t kPrototypes = 0;
constexpr std::uint32_t kTrain = 1;
constexpr std::uint32_t kTest = 2;

std::array<std::size_t, 3> parse_shape(const Arguments& arguments) {
  constexpr std::string_view kAllowed = "channels x height x width, each 1 to 4096";
  const std::string& text = arguments.text("shape");
  std::array<std::size_t, 3> shape{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t k = 0; k < 3; ++k) {
    const auto [next, error] = std::from_chars(at, end, shape[k]);
    if (error != std::errc() || shape[k] == 0 || shape[k] > 4096) {
      arguments.reject("shape", kAllowed);
    }
    const bool last = k == 2;
    if (last ? next != end : (next == end || *next != 'x')) arguments.reject("shape", kAllowed);
    at = next + 1;
  }
  return shape;
}

std::vector<float> make_prototype(const Dataset& task, std::uint64_t seed, std::size_t label) {
  Random random(seed, Purpose::kProblem, kPrototypes, static_cast<std::uint32_t>(label));
  std::vector<float> image(task.features());
  const std::size_t plane = task.height * task.width;
  for (std::size_t c = 0; c < task.channels; ++c) {
    std::array<float, kGrid * kGrid> grid;
    for (float& value : grid) value = static_cast<float>(random.normal());
    resize({grid.data(), kGrid, kGrid, kGrid}, task.height, task.width,
           std::span(image).subspan(c * plane, plane));
  }
  return image;
}

/// Uniform noise of mean 0 and deviation 1 from a byte of a random word, four pixels per word.
float unit_noise(std::uint32_t word, std::size_t byte) {
  constexpr float kDeviation = 73.9f;  // sqrt((256^2 - 1) / 12)
  return (static_cast<float>(word >> 8 * byte & 255) - 127.5f) / kDeviation;
}

Samples draw(const Dataset& task, const std::vector<std::vector<float>>& prototypes,
             std::size_t count, float noise, std::uint64_t seed, std::uint32_t part) {
  const std::size_t features = task.features();
  Samples samples;
  samples.pixels.resize(count * features);
  samples.labels.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t label = i % task.classes;
    samples.labels[i] = static_cast<std::uint16_t>(label);
    const Random random(seed, Purpose::kProblem, part, static_cast<std::uint32_t>(i));
    std::array<std::uint32_t, 4> words{};
    for (std::size_t k = 0; k < features; ++k) {
      if (k % 16 == 0) words = random.words(k / 16);
      const float value =
          128 + 32 * (prototypes[label][k] + noise * unit_noise(words[k / 4 % 4], k % 4));
      samples.pixels[i * features + k] =
          static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f) + 0.5f);
    }
  }
  return samples;
}

}  // namespace

std::shared_ptr<const Dataset> make_synthetic(const Arguments& arguments) {
  const auto [channels, height, width] = parse_shape(arguments);
  Dataset task{.name = "synthetic",
               .channels = channels,
               .height = height,
               .width = width,
               .classes = static_cast<std::size_t>(arguments.integer_in_range("classes")),
               .scale = 1.0f / 255,
               .mean = std::vector<float>(channels, 0.5f),
               .deviation = std::vector<float>(channels, 0.16f)};
  const auto samples = static_cast<std::size_t>(arguments.integer_in_range("samples"));
  if (samples < task.classes) {
    arguments.reject("samples", fmt::format("at least one a class, {}", task.classes));
  }
  const auto noise = static_cast<float>(arguments.number_in_range("noise"));
  const auto seed = static_cast<std::uint64_t>(arguments.integer_in_range("seed"));
  const std::size_t tests = std::max(task.classes, samples / 5);
  if (static_cast<double>(samples + tests) * static_cast<double>(task.features()) > kMostBytes) {
    arguments.reject("samples", "few enough for 64 GiB of pixels");
  }
  std::vector<std::vector<float>> prototypes;
  for (std::size_t label = 0; label < task.classes; ++label) {
    prototypes.push_back(make_prototype(task, seed, label));
  }
  task.train = draw(task, prototypes, samples, noise, seed, kTrain);
  task.test = draw(task, prototypes, tests, noise, seed, kTest);
  return std::make_shared<const Dataset>(std::move(task));
}

}  // namespace hearsay::data
