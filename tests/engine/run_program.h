#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "hearsay/engine/cpu/float_program.h"
#include "model/operation_cases.h"

namespace hearsay::engine {

using model::Doubles;
using model::Example;

inline std::vector<float> to_floats(const Doubles& x) { return {x.begin(), x.end()}; }
inline Doubles to_doubles(const std::vector<float>& x) { return {x.begin(), x.end()}; }

/// The results of a program for a batch in training mode.
struct ProgramOutcome {
  double loss = 0;
  std::vector<float> gradient, buffers;
  bool operator==(const ProgramOutcome&) const = default;
};

inline ProgramOutcome run_gradient(cpu::Program& program, const Example& example,
                                   const StreamKey& key) {
  const std::vector<float> parameters = to_floats(example.parameters);
  ProgramOutcome outcome;
  outcome.gradient.resize(parameters.size(), 7.0f);
  outcome.buffers = to_floats(example.buffers);
  std::ranges::copy(to_floats(example.samples.images), program.images().begin());
  outcome.loss = program.gradient(parameters, outcome.buffers, example.samples.targets(), key,
                                  outcome.gradient);
  return outcome;
}

inline std::vector<float> run_logits(cpu::Program& program, std::size_t classes,
                                     const Example& example) {
  std::vector<float> logits(program.batch() * classes, 7.0f);
  std::ranges::copy(to_floats(example.samples.images), program.images().begin());
  program.outputs(to_floats(example.parameters), to_floats(example.buffers), logits);
  return logits;
}

inline double norm(std::span<const double> x) {
  double sum = 0;
  for (double entry : x) sum += entry * entry;
  return std::sqrt(sum);
}

/// |x - reference|, in the 2-norm.
inline double distance(std::span<const float> x, std::span<const double> reference) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::pow(x[i] - reference[i], 2);
  return std::sqrt(sum);
}

/// Of the angle between x and the reference.
inline double cosine(std::span<const float> x, std::span<const double> reference) {
  double product = 0, square = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    product += static_cast<double>(x[i]) * reference[i];
    square += std::pow(static_cast<double>(x[i]), 2);
  }
  return product / (std::sqrt(square) * norm(reference));
}

}  // namespace hearsay::engine
