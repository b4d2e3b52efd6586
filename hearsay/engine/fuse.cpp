#include "hearsay/engine/fuse.h"

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::engine {

namespace {

using model::Value;

template <class... Kinds>
bool is_one_of(const model::Kind& kind) {
  return (std::holds_alternative<Kinds>(kind) || ...);
}

bool takes_residual(const model::Kind& kind) {
  return is_one_of<model::BatchNorm, model::GroupNorm, model::EvoNorm, model::RangeEvoNorm>(kind);
}

bool takes_relu(const model::Kind& kind) {
  return is_one_of<model::Conv2d, model::Linear, model::BatchNorm, model::GroupNorm, model::Add>(
      kind);
}

}  // namespace

std::vector<Fused> fuse(const model::Network& network) {
  const auto& operations = network.operations();
  std::vector<std::vector<Value>> readers(operations.size());
  for (Value v = 0; v < operations.size(); ++v) {
    for (Value input : operations[v].inputs) readers[input].push_back(v);
  }
  for (Value v = 0; v + 1 < operations.size(); ++v) {
    if (!readers[v].empty()) continue;
    throw InvalidArgument(
        fmt::format("[model] nothing reads what {} makes; leave it out", operations[v].name));
  }

  std::vector<bool> done(operations.size(), false);
  std::vector<Fused> steps;
  for (Value v = 1; v < operations.size(); ++v) {
    if (done[v]) continue;
    const model::Kind& kind = operations[v].kind;
    Fused step{.operation = v, .output = v, .residual = {}, .relu = false};
    const auto only_reader = [&]() -> std::optional<Value> {
      if (readers[step.output].size() != 1) return {};
      return readers[step.output].front();
    };
    const auto take = [&](Value next) {
      done[next] = true;
      step.output = next;
    };
    if (is_one_of<model::Add>(kind)) {
      step.residual = operations[v].inputs[1];
    } else if (const auto next = only_reader();
               next && takes_residual(kind) && is_one_of<model::Add>(operations[*next].kind)) {
      const auto& terms = operations[*next].inputs;
      const Value other = terms[0] == v ? terms[1] : terms[0];
      if (other < v) {
        step.residual = other;
        take(*next);
      }
    }
    if (const auto next = only_reader();
        next && takes_relu(kind) && is_one_of<model::Relu>(operations[*next].kind)) {
      step.relu = true;
      take(*next);
    }
    steps.push_back(step);
  }
  return steps;
}

}  // namespace hearsay::engine
