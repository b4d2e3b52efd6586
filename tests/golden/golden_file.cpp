#include "golden/golden_file.h"

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace hearsay::golden {

namespace {

constexpr std::size_t kFull = 64;
constexpr std::size_t kSigns = 16;

std::uint32_t mix(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

std::uint32_t hash(std::uint32_t stream, std::size_t i) {
  return mix(mix(stream) + static_cast<std::uint32_t>(i));
}

double number(std::uint32_t stream, std::size_t i, double scale, double offset) {
  return (static_cast<double>(hash(stream, i) >> 16) - 32768) / 32768 * scale + offset;
}

double norm(std::span<const double> x) {
  double sum = 0;
  for (double entry : x) sum += entry * entry;
  return std::sqrt(sum);
}

std::vector<double> read_numbers(std::istream& in) {
  std::vector<double> all;
  for (double x = 0; in >> x;) all.push_back(x);
  return all;
}

}  // namespace

double Expected::error(std::size_t place, std::span<const double> x) const {
  if (x.size() != size) throw std::runtime_error(name + " has another size");
  std::vector<double> difference;
  if (size <= kFull) {
    for (std::size_t i = 0; i < size; ++i) difference.push_back(x[i] - facts.at(i));
    return norm(difference) / norm(facts);
  }
  for (std::size_t j = 0; j < kSigns; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint32_t bits = hash((1u << 20) + static_cast<std::uint32_t>(place), i);
      sum += (bits >> j & 1) == 0 ? x[i] : -x[i];
    }
    difference.push_back(sum - facts.at(1 + j));
  }
  return norm(difference) / std::sqrt(kSigns) / facts[0];
}

model::Example GoldenFile::example(const model::Network& net) const {
  model::Example example;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    for (std::size_t i = 0; i < tensors[t].size; ++i) {
      example.parameters.push_back(
          number(static_cast<std::uint32_t>(t + 1), i, tensors[t].scale, tensors[t].offset));
    }
  }
  std::vector<float> start(net.buffers().dim());
  net.initialize_buffers(start);
  example.buffers.assign(start.begin(), start.end());
  for (std::size_t i = 0; i < batch * input.size(); ++i) {
    example.samples.images.push_back(number(images, i, 1, 0));
  }
  example.samples.loss = loss_kind;
  for (std::size_t i = 0; i < batch * outputs && loss_kind.of_numbers(); ++i) {
    example.samples.numbers.push_back(static_cast<float>(number(998, i, 2, 0)));
  }
  for (std::size_t b = 0; b < batch && !loss_kind.of_numbers(); ++b) {
    example.samples.labels.push_back(static_cast<std::uint16_t>(hash(999, b) % 10));
  }
  return example;
}

GoldenFile read_golden(const std::string& name) {
  std::ifstream in(std::string(HEARSAY_GOLDEN_FOLDER) + "/" + name + ".txt");
  if (!in) throw std::runtime_error("no golden file " + name);
  GoldenFile file;
  for (std::string text; std::getline(in, text);) {
    std::istringstream line(text);
    std::string key;
    line >> key;
    if (key == "spec") {
      line >> file.spec;
    } else if (key == "input") {
      line >> file.input.channels >> file.input.height >> file.input.width;
    } else if (key == "outputs") {
      line >> file.outputs;
    } else if (key == "of") {
      std::string spec;
      line >> spec;
      file.loss_kind = engine::make_loss(spec, data::Task::kRegression);
    } else if (key == "batch") {
      line >> file.batch;
    } else if (key == "images") {
      line >> file.images;
    } else if (key == "margin") {
      line >> file.margin;
    } else if (key == "loss") {
      line >> file.loss;
    } else if (key == "logits") {
      file.logits = read_numbers(line);
    } else if (key == "tensor" || key == "buffer") {
      Expected& expected = (key == "tensor" ? file.tensors : file.buffers).emplace_back();
      line >> expected.name >> expected.size;
      if (key == "tensor") line >> expected.scale >> expected.offset;
      expected.facts = read_numbers(line);
    } else {
      throw std::runtime_error(fmt::format("cannot read '{}' in golden file {}", text, name));
    }
  }
  return file;
}

}  // namespace hearsay::golden
