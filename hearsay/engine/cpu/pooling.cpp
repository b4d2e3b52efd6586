#include <algorithm>
#include <vector>

#include "hearsay/engine/cpu/onednn.h"
#include "hearsay/engine/cpu/step.h"

namespace hearsay::engine::cpu {

namespace {

using dnnl::memory;
using Forward = dnnl::pooling_forward;
using Backward = dnnl::pooling_backward;

/// Samples of one call.
constexpr std::size_t kChunk = 4;

/// The pooling of a chunk, and the operands of a lane.
struct Pass {
  Forward forward;
  Backward backward;
  memory x, y, workspace, forward_pad, backward_pad;

  std::size_t scratch_bytes() const {
    return ScratchCursor::round_up(
        std::max(forward_pad.get_desc().get_size(), backward_pad.get_desc().get_size()));
  }
  void bind_to(const float* of_x, const float* of_y, const std::byte* places, std::byte* scratch) {
    bind_memory(x, of_x);
    bind_memory(y, of_y);
    bind_memory(workspace, places);
    bind_memory(forward_pad, scratch);
    bind_memory(backward_pad, scratch);
  }
};

class MaxPoolStep final : public Step {
 public:
  MaxPoolStep(const model::MaxPool& pool, const Site& site)
      : site_(site),
        chunks_{site.x->tiles.samples, std::min(site.x->tiles.samples, kChunk)},
        stream_(device()) {
    const std::size_t last = chunks_.size(chunks_.count() - 1);
    for (std::size_t lane = 0; lane < site.lanes.count(); ++lane) {
      for (std::size_t samples : {chunks_.each, last}) passes_.push_back(pass_of(pool, samples));
    }
    chunk_bytes_ = ScratchCursor::round_up(passes_[0].workspace.get_desc().get_size());
    places_.resize(chunks_.count() * chunk_bytes_);
  }

  Demands demands() const override {
    const std::size_t bytes = std::max(passes_[0].scratch_bytes(), passes_[1].scratch_bytes());
    return {.input_in_backward = false,
            .output_in_backward = false,
            .scratch_bytes = site_.lanes.count() * bytes};
  }

  void forward(const Call&, std::byte* scratch) override {
    for_each_chunk(site_.x->data(), site_.y->data(), scratch, [&](Pass& pass) {
      pass.forward.execute(stream_, {{DNNL_ARG_SRC, pass.x},
                                     {DNNL_ARG_DST, pass.y},
                                     {DNNL_ARG_WORKSPACE, pass.workspace},
                                     {DNNL_ARG_SCRATCHPAD, pass.forward_pad}});
    });
  }

  void backward(const Call&, std::byte* scratch) override {
    if (!site_.x->wants_gradient()) return;
    const float* dy = collect(site_.lanes, *site_.y);
    for_each_chunk(site_.x->next_gradient(), dy, scratch, [&](Pass& pass) {
      pass.backward.execute(stream_, {{DNNL_ARG_DIFF_DST, pass.y},
                                      {DNNL_ARG_DIFF_SRC, pass.x},
                                      {DNNL_ARG_WORKSPACE, pass.workspace},
                                      {DNNL_ARG_SCRATCHPAD, pass.backward_pad}});
    });
  }

 private:
  Pass pass_of(const model::MaxPool& pool, std::size_t samples) const {
    constexpr auto how = dnnl::algorithm::pooling_max;
    const memory::dims window(2, dim(pool.kernel)), strides(2, dim(pool.stride)),
        around(2, dim(pool.padding));
    const auto x = describe(*site_.x, samples), y = describe(*site_.y, samples);
    const Forward::primitive_desc forward(Forward::desc(dnnl::prop_kind::forward_training, how, x,
                                                        y, strides, window, around, around),
                                          caller_scratchpad(), device());
    const Backward::primitive_desc backward(
        Backward::desc(how, x, y, strides, window, around, around), caller_scratchpad(), device(),
        forward);
    return {Forward(forward),
            Backward(backward),
            unbound(x),
            unbound(y),
            unbound(forward.workspace_desc()),
            unbound(forward.scratchpad_desc()),
            unbound(backward.scratchpad_desc())};
  }

  template <class Body>
  void for_each_chunk(const float* x, const float* y, std::byte* scratch, const Body& body) {
    site_.lanes.run(chunks_.count(), [&](std::size_t lane, std::size_t k) {
      Pass& pass = passes_[2 * lane + (k + 1 == chunks_.count() ? 1 : 0)];
      const std::size_t n = chunks_.first(k);
      const std::size_t bytes = std::max(passes_[0].scratch_bytes(), passes_[1].scratch_bytes());
      pass.bind_to(x + n * site_.x->tiles.sample_size(), y + n * site_.y->tiles.sample_size(),
                   places_.data() + k * chunk_bytes_, scratch + lane * bytes);
      body(pass);
    });
  }

  Site site_;
  Chunks chunks_;
  dnnl::stream stream_;
  std::vector<Pass> passes_;  ///< by lane, for a chunk and for the last one
  std::size_t chunk_bytes_ = 0;
  std::vector<std::byte> places_;  ///< where each maximum was
};

}  // namespace

std::unique_ptr<Step> make_max_pool(const model::MaxPool& pool, const Site& site) {
  return std::make_unique<MaxPoolStep>(pool, site);
}

}  // namespace hearsay::engine::cpu
