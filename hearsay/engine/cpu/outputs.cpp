#include "hearsay/engine/cpu/outputs.h"

#include <algorithm>

#include "hearsay/data/image/augment.h"
#include "hearsay/engine/cpu/program.h"

namespace hearsay::engine::cpu {

std::vector<float> outputs_on(const data::Dataset& dataset, const data::Samples& samples,
                              const model::Network& network, std::span<const float> parameters,
                              std::span<const float> buffers, backend::Precision precision,
                              ThreadPool& pool) {
  constexpr std::size_t kBatch = 64;
  const std::size_t width = network.outputs(), features = dataset.features();
  const auto program = make_program(precision, network, kBatch, {}, Lanes(pool, pool.threads()));
  std::vector<float> all, batch(kBatch * width);
  for (std::size_t begin = 0; begin < samples.size(); begin += kBatch) {
    const std::size_t count = std::min(kBatch, samples.size() - begin);
    for (std::size_t k = 0; k < kBatch; ++k) {  // an incomplete batch repeats its last sample
      data::read_sample(dataset, samples, begin + std::min(k, count - 1),
                        program->images().subspan(k * features, features));
    }
    program->outputs(parameters, buffers, batch);
    all.insert(all.end(), batch.begin(),
               batch.begin() + static_cast<std::ptrdiff_t>(count * width));
  }
  return all;
}

}  // namespace hearsay::engine::cpu
