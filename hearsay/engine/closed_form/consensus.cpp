#include "hearsay/engine/closed_form/consensus.h"

#include <algorithm>

#include "hearsay/core/random.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/engine/closed_form/closed_form.h"

namespace hearsay::engine {

namespace {

/// The optimum and a start, and of every row its model and gradient.
double consensus_bytes(const Arguments& arguments, const ObjectiveContext& context) {
  const auto dim = static_cast<double>(arguments.integer_in_range("dim"));
  return dim * (12 + 8 * static_cast<double>(context.rows));
}

class Consensus final : public KnownOptimum {
 public:
  Consensus(const Arguments& arguments, const ObjectiveContext& context)
      : KnownOptimum(context, static_cast<std::size_t>(arguments.integer_in_range("dim")),
                     arguments.name(), consensus_bytes(arguments, context)),
        spread_(arguments.number_in_range("spread")) {
    optimum_.assign(dim(), 0);
    std::vector<float> start(dim());
    for (std::size_t i = 0; i < context.peers; ++i) {
      draw_start(static_cast<std::uint32_t>(i), start);
      for (std::size_t k = 0; k < dim(); ++k) optimum_[k] += static_cast<double>(start[k]);
    }
    for (double& entry : optimum_) entry /= static_cast<double>(context.peers);
  }

  std::size_t batch() const override { return 0; }

  void initial_model(std::uint32_t peer, std::span<float> x) const override { draw_start(peer, x); }

  void gradients(std::uint32_t, backend::ConstBlock, backend::Block out,
                 std::span<double> losses) override {
    pool_.run(out.rows, [&](std::size_t i) { std::ranges::fill(out.row(i), 0.0f); });
    std::ranges::fill(losses, 0.0);
  }

 private:
  void draw_start(std::uint32_t peer, std::span<float> start) const {
    Random random(seed_, Purpose::kInit, peer);
    for (float& entry : start) entry = static_cast<float>(spread_ * random.normal());
  }

  double model_loss(std::span<const float>) const override { return 0; }

  double spread_;
};

}  // namespace

std::unique_ptr<Objective> make_consensus(const Arguments& arguments,
                                          const ObjectiveContext& context) {
  return std::make_unique<Consensus>(arguments, context);
}

}  // namespace hearsay::engine
