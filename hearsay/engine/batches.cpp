#include "hearsay/engine/batches.h"

#include <numeric>
#include <utility>

#include "hearsay/core/random.h"

namespace hearsay::engine {

std::vector<std::uint32_t> order_of_pass(std::uint64_t seed, std::uint32_t peer, std::uint64_t pass,
                                         std::size_t samples) {
  Random random(seed, Purpose::kShuffle, peer, static_cast<std::uint32_t>(pass));
  std::vector<std::uint32_t> order(samples);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t left = samples; left > 1; --left) {
    std::swap(order[left - 1], order[random.below(left)]);
  }
  return order;
}

std::vector<std::uint32_t> statistics_samples(std::uint64_t seed, const data::Partition& all,
                                              std::size_t batch) {
  std::vector<std::span<const std::uint32_t>> parts;
  for (const std::vector<std::uint32_t>& part : all) {
    if (!part.empty()) parts.emplace_back(part);
  }
  std::vector<std::uint32_t> samples;
  samples.reserve(kStatisticsBatches * batch);
  for (std::size_t k = 0; k < kStatisticsBatches; ++k) {
    Random random(seed, Purpose::kShuffle, kStatisticsId, static_cast<std::uint32_t>(k));
    for (std::size_t slot = 0; slot < batch; ++slot) {
      const std::span<const std::uint32_t> part = parts[(k * batch + slot) % parts.size()];
      samples.push_back(part[random.below(part.size())]);
    }
  }
  return samples;
}

Batches::Batches(std::uint64_t seed, std::size_t first, std::size_t rows, std::size_t samples,
                 std::size_t batch)
    : seed_(seed), first_(first), samples_(samples), batch_(batch), passes_(rows) {}

void Batches::read(std::size_t i, std::uint32_t round, std::span<std::uint32_t> indices) {
  Pass& pass = passes_[i];
  for (std::size_t k = 0; k < batch_; ++k) {
    const std::uint64_t place = std::uint64_t{round} * batch_ + k;
    if (pass.number != place / samples_) {
      pass.number = place / samples_;
      pass.order =
          order_of_pass(seed_, static_cast<std::uint32_t>(first_ + i), pass.number, samples_);
    }
    indices[k] = pass.order[place % samples_];
  }
}

}  // namespace hearsay::engine
