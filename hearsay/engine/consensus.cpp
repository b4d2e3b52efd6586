#include "hearsay/engine/consensus.h"

#include <algorithm>

#include "hearsay/core/random.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/engine/closed_form.h"

namespace hearsay::engine {

namespace {

class Consensus final : public ClosedForm {
 public:
  Consensus(const Arguments& arguments, const ObjectiveContext& context)
      : ClosedForm(context, static_cast<std::size_t>(arguments.integer_in_range("dim")), 0),
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

  void initialize(backend::Block x) const override {
    pool_.run(x.rows, [&](std::size_t i) { draw_start(peer(i), x.row(i)); });
  }

 private:
  void draw_start(std::uint32_t peer, std::span<float> start) const {
    Random random(seed_, Purpose::kInit, peer);
    for (float& entry : start) entry = static_cast<float>(spread_ * random.normal());
  }

  double peer_gradient(std::size_t, std::uint32_t, std::span<const double>,
                       std::span<double> g) override {
    std::ranges::fill(g, 0.0);
    return 0;
  }

  double mean_loss(std::span<const double>) const override { return 0; }

  double spread_;
};

}  // namespace

std::unique_ptr<Objective> make_consensus(const Arguments& arguments,
                                          const ObjectiveContext& context) {
  return std::make_unique<Consensus>(arguments, context);
}

}  // namespace hearsay::engine
