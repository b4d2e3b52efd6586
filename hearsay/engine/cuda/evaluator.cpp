#include "hearsay/engine/cuda/evaluator.h"

#include <algorithm>

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::Context;

std::size_t batch_for(const model::Network& network, std::size_t models, std::size_t most,
                      backend::Precision precision) {
  constexpr std::size_t kBytes = std::size_t{2} << 30;
  constexpr std::size_t kEnough = 500;  // samples of one model that fill the card
  const std::size_t each = Plan::bytes_a_sample(network, Plan::Use::kForward, precision);
  return std::clamp<std::size_t>(kBytes / (models * each), 1,
                                 std::clamp<std::size_t>(most, 1, kEnough));
}

}  // namespace

Evaluator::Evaluator(const model::Network& network, std::size_t models, std::size_t most,
                     Context& context)
    : context_(context),
      plan_(network, models, batch_for(network, models, most, context.precision),
            Plan::Use::kForward, context),
      totals_(models),
      slots_(models * plan_.batch()) {}

void Evaluator::judge_all(const ImageReader& set, std::span<const float* const> parameters,
                          std::span<const float* const> buffers, Verdict* results) {
  backend::cuda::Tape& tape = context_.tape;
  tape.submit();  // every batch below is then the same list
  const std::size_t batch = plan_.batch();
  for (std::size_t begin = 0; begin < set.size(); begin += batch) {
    const std::size_t count = std::min(batch, set.size() - begin);
    for (std::size_t k = 0; k < slots_.size(); ++k) {  // a batch that is not full repeats its last
      slots_[k].sample = static_cast<std::uint32_t>(begin + std::min(k % batch, count - 1));
    }
    set.read(tape, context_.precision, tape.put(std::span<const Slot>(slots_)), plan_.images(),
             plan_.labels());
    plan_.logits(parameters, buffers);
    const Judged judged{.count = static_cast<std::uint32_t>(count), .first = begin == 0};
    judge(tape, context_.precision, plan_.logits(), plan_.labels(), tape.put(judged),
          totals_.data(), tape.put(results));
    tape.submit();
  }
}

}  // namespace hearsay::engine::cuda
