#include "hearsay/engine/gradient_owners.h"

#include <numeric>

namespace hearsay::engine {

using model::Value;

std::vector<Value> gradient_owners(const model::Network& network, std::span<const Fused> steps) {
  const auto& operations = network.operations();
  std::vector<Value> owners(operations.size());
  std::iota(owners.begin(), owners.end(), Value{0});
  std::vector<bool> read(operations.size(), false);  // by later steps
  for (std::size_t k = steps.size(); k-- > 0;) {
    const Fused& step = steps[k];
    const model::Operation& operation = operations[step.operation];
    const Value x = operation.inputs[0];
    if (step.residual) {
      const Value residual = *step.residual;
      if (std::holds_alternative<model::BatchNorm>(operation.kind) && residual != x &&
          residual != network.input() && !read[residual]) {
        owners[residual] = owners[step.output];
      }
      read[residual] = true;
    }
    read[x] = true;
  }
  return owners;
}

}  // namespace hearsay::engine
