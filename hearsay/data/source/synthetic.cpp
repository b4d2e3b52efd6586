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
#include "hearsay/data/targets.h"

namespace hearsay::data {

namespace {

constexpr std::size_t kGrid = 4;  // a prototype is a kGrid x kGrid grid of normals, upsampled
constexpr double kMostBytes = 0x1p36;

// Streams of Purpose::kProblem, used as the peer index.
constexpr std::uint32_t kPrototypes = 0;
constexpr std::uint32_t kTrain = 1;
constexpr std::uint32_t kTest = 2;
constexpr std::uint32_t kTeachers = 3;
constexpr std::uint32_t kLatentsOf = 4;  // + kTrain or kTest: what the images of a regression mix

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

/// Writes the pixels of a sample: 128 + 32 (image + noise u).
void write_pixels(std::span<const float> image, float noise, const Random& random,
                  std::span<std::uint8_t> pixels) {
  std::array<std::uint32_t, 4> words{};
  for (std::size_t k = 0; k < image.size(); ++k) {
    if (k % 16 == 0) words = random.words(k / 16);
    const float value = 128 + 32 * (image[k] + noise * unit_noise(words[k / 4 % 4], k % 4));
    pixels[k] = static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f) + 0.5f);
  }
}

/// What both tasks read besides the shape.
struct Sizes {
  std::size_t samples, tests;
  float noise;
  std::uint64_t seed;
};

/// `task` has its shape; either part has at least `least` samples.
Sizes read_sizes(const Arguments& arguments, const Dataset& task, std::size_t least) {
  const auto samples = static_cast<std::size_t>(arguments.integer_in_range("samples"));
  if (samples < least) arguments.reject("samples", fmt::format("at least one a class, {}", least));
  const Sizes sizes{.samples = samples,
                    .tests = std::max(least, samples / 5),
                    .noise = static_cast<float>(arguments.number_in_range("noise")),
                    .seed = static_cast<std::uint64_t>(arguments.integer_in_range("seed"))};
  if (static_cast<double>(samples + sizes.tests) * static_cast<double>(task.features()) >
      kMostBytes) {
    arguments.reject("samples", "few enough for 64 GiB of pixels");
  }
  return sizes;
}

std::vector<std::vector<float>> make_prototypes(const Dataset& task, std::uint64_t seed,
                                                std::size_t count) {
  std::vector<std::vector<float>> prototypes;
  for (std::size_t label = 0; label < count; ++label) {
    prototypes.push_back(make_prototype(task, seed, label));
  }
  return prototypes;
}

Dataset make_empty(const Arguments& arguments) {
  const auto [channels, height, width] = parse_shape(arguments);
  return {.name = "synthetic",
          .channels = channels,
          .height = height,
          .width = width,
          .scale = 1.0f / 255,
          .mean = std::vector<float>(channels, 0.5f),
          .deviation = std::vector<float>(channels, 0.16f)};
}

Samples draw(const Dataset& task, const std::vector<std::vector<float>>& prototypes,
             std::size_t count, const Sizes& sizes, std::uint32_t part) {
  Samples samples;
  std::vector<std::uint8_t>& pixels = samples.inputs.as<std::uint8_t>();
  pixels.resize(count * task.features());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t label = i % task.classes;
    samples.labels().push_back(static_cast<std::uint16_t>(label));
    write_pixels(prototypes[label], sizes.noise,
                 Random(sizes.seed, Purpose::kProblem, part, static_cast<std::uint32_t>(i)),
                 std::span(pixels).subspan(i * task.features(), task.features()));
  }
  return samples;
}

constexpr std::size_t kLatents = 4;
using Latents = std::array<double, kLatents>;

double dot(const Latents& a, const Latents& b) {
  double sum = 0;
  for (std::size_t l = 0; l < kLatents; ++l) sum += a[l] * b[l];
  return sum;
}

/// What a target is of z: t = a . z + tanh(2 b . z).
struct Teacher {
  explicit Teacher(Random& random) : linear(unit(random)), bent(unit(random)) {}

  static Latents unit(Random& random) {
    Latents vector;
    for (double& entry : vector) entry = random.normal();
    const double length = std::sqrt(dot(vector, vector));
    for (double& entry : vector) entry /= length;
    return vector;
  }
  double operator()(const Latents& z) const { return dot(linear, z) + std::tanh(2 * dot(bent, z)); }

  Latents linear, bent;
};

Samples draw_regression(const Dataset& task, const std::vector<std::vector<float>>& prototypes,
                        const std::vector<Teacher>& teachers, std::size_t count, const Sizes& sizes,
                        std::uint32_t part) {
  Samples samples{.targets_each = teachers.size()};
  std::vector<std::uint8_t>& pixels = samples.inputs.as<std::uint8_t>();
  std::vector<float>& targets = samples.targets.as<float>();
  pixels.resize(count * task.features());
  std::vector<float> image(task.features());
  for (std::size_t i = 0; i < count; ++i) {
    Random random(sizes.seed, Purpose::kProblem, kLatentsOf + part, static_cast<std::uint32_t>(i));
    Latents z;
    for (double& entry : z) entry = random.normal();
    std::ranges::fill(image, 0.0f);
    for (std::size_t l = 0; l < kLatents; ++l) {
      const auto weight = static_cast<float>(z[l] / 2);  // deviation 1 over samples and pixels
      for (std::size_t k = 0; k < image.size(); ++k) image[k] += weight * prototypes[l][k];
    }
    write_pixels(image, sizes.noise,
                 Random(sizes.seed, Purpose::kProblem, part, static_cast<std::uint32_t>(i)),
                 std::span(pixels).subspan(i * task.features(), task.features()));
    for (const Teacher& teacher : teachers) targets.push_back(static_cast<float>(teacher(z)));
  }
  return samples;
}

}  // namespace

std::shared_ptr<const Dataset> make_synthetic(const Arguments& arguments) {
  if (arguments.given("targets")) {
    throw InvalidArgument(
        "[synthetic] targets is for --task regression; add that, or give classes=...");
  }
  Dataset task = make_empty(arguments);
  task.classes = static_cast<std::size_t>(arguments.integer_in_range("classes"));
  const Sizes sizes = read_sizes(arguments, task, task.classes);
  const auto prototypes = make_prototypes(task, sizes.seed, task.classes);
  task.train = draw(task, prototypes, sizes.samples, sizes, kTrain);
  task.test = draw(task, prototypes, sizes.tests, sizes, kTest);
  return std::make_shared<const Dataset>(std::move(task));
}

std::shared_ptr<const Dataset> make_synthetic_regression(const Arguments& arguments) {
  if (arguments.given("classes")) {
    throw InvalidArgument("[synthetic] --task regression has no classes; give targets=...");
  }
  Dataset task = make_empty(arguments);
  const Sizes sizes = read_sizes(arguments, task, 1);
  const auto prototypes = make_prototypes(task, sizes.seed, kLatents);
  Random random(sizes.seed, Purpose::kProblem, kTeachers);
  std::vector<Teacher> teachers;
  for (std::int64_t k = 0; k < arguments.integer_in_range("targets"); ++k) {
    teachers.emplace_back(random);
  }
  task.train = draw_regression(task, prototypes, teachers, sizes.samples, sizes, kTrain);
  task.test = draw_regression(task, prototypes, teachers, sizes.tests, sizes, kTest);
  set_target_scale(task);
  return std::make_shared<const Dataset>(std::move(task));
}

std::size_t samples_of_synthetic(const Arguments& arguments) {
  return static_cast<std::size_t>(arguments.integer_in_range("samples"));
}

}  // namespace hearsay::data
