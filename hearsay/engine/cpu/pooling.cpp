#include <vector>

#include "hearsay/engine/cpu/onednn.h"
#include "hearsay/engine/cpu/step.h"

namespace hearsay::engine::cpu {

namespace {

using dnnl::memory;
using Forward = dnnl::pooling_forward;
using Backward = dnnl::pooling_backward;

class MaxPoolStep final : public Step {
 public:
  MaxPoolStep(const model::MaxPool& pool, const Site& site)
      : site_(site),
        x_(unbound(describe(*site.x))),
        y_(unbound(describe(*site.y))),
        stream_(device()) {
    constexpr auto how = dnnl::algorithm::pooling_max;
    const memory::dims window(2, dim(pool.kernel)), strides(2, dim(pool.stride)),
        around(2, dim(pool.padding));
    const auto x = describe(*site.x), y = describe(*site.y);
    const Forward::primitive_desc forward(Forward::desc(dnnl::prop_kind::forward_training, how, x,
                                                        y, strides, window, around, around),
                                          caller_scratchpad(), device());
    const Backward::primitive_desc backward(
        Backward::desc(how, x, y, strides, window, around, around), caller_scratchpad(), device(),
        forward);
    forward_ = Forward(forward);
    backward_ = Backward(backward);
    workspace_ = unbound(forward.workspace_desc());
    places_.resize(forward.workspace_desc().get_size());
    forward_pad_ = unbound(forward.scratchpad_desc());
    backward_pad_ = unbound(backward.scratchpad_desc());
    bind_memory(workspace_, places_.data());
  }

  Demands demands() const override {
    return {.input_in_backward = false,
            .output_in_backward = false,
            .scratch_bytes =
                std::max(forward_pad_.get_desc().get_size(), backward_pad_.get_desc().get_size())};
  }

  void forward(const Call&, std::byte* scratch) override {
    bind_memory(x_, site_.x->data());
    bind_memory(y_, site_.y->data());
    bind_memory(forward_pad_, scratch);
    forward_.execute(stream_, {{DNNL_ARG_SRC, x_},
                               {DNNL_ARG_DST, y_},
                               {DNNL_ARG_WORKSPACE, workspace_},
                               {DNNL_ARG_SCRATCHPAD, forward_pad_}});
  }

  void backward(const Call&, std::byte* scratch) override {
    if (!site_.x->wants_gradient()) return;
    bind_memory(y_, site_.y->collect());
    bind_memory(x_, site_.x->next_gradient());
    bind_memory(backward_pad_, scratch);
    backward_.execute(stream_, {{DNNL_ARG_DIFF_DST, y_},
                                {DNNL_ARG_DIFF_SRC, x_},
                                {DNNL_ARG_WORKSPACE, workspace_},
                                {DNNL_ARG_SCRATCHPAD, backward_pad_}});
  }

 private:
  Site site_;
  memory x_, y_, workspace_, forward_pad_, backward_pad_;
  dnnl::stream stream_;
  Forward forward_;
  Backward backward_;
  std::vector<std::byte> places_;  ///< where each maximum was
};

}  // namespace

std::unique_ptr<Step> make_max_pool(const model::MaxPool& pool, const Site& site) {
  return std::make_unique<MaxPoolStep>(pool, site);
}

}  // namespace hearsay::engine::cpu
