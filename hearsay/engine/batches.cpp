#include "hearsay/engine/batches.h"

#include <numeric>
#include <utility>

#include "hearsay/core/random.h"

namespace hearsay::engine {

Batches::Batches(std::uint64_t seed, std::size_t first, std::size_t rows, std::size_t samples,
                 std::size_t batch)
    : seed_(seed), first_(first), samples_(samples), batch_(batch), passes_(rows) {}

void Batches::read(std::size_t i, std::uint32_t round, std::span<std::uint32_t> indices) {
  Pass& pass = passes_[i];
  for (std::size_t k = 0; k < batch_; ++k) {
    const std::uint64_t place = std::uint64_t{round} * batch_ + k;
    if (pass.number != place / samples_) {
      pass.number = place / samples_;
      Random random(seed_, Purpose::kShuffle, static_cast<std::uint32_t>(first_ + i),
                    static_cast<std::uint32_t>(pass.number));
      pass.order.resize(samples_);
      std::iota(pass.order.begin(), pass.order.end(), 0u);
      for (std::size_t left = samples_; left > 1; --left) {
        std::swap(pass.order[left - 1], pass.order[random.below(left)]);
      }
    }
    indices[k] = pass.order[place % samples_];
  }
}

}  // namespace hearsay::engine
