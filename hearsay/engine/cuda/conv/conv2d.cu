#include <algorithm>
#include <climits>
#include <optional>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/conv/convolve/conv_direction.h"
#include "hearsay/engine/cuda/conv/image_map.h"
#include "hearsay/engine/cuda/numbers.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;

constexpr int kSideStreams = 2;  // streams for weight gradients, which no later step reads

/// gradient = y > 0 ? gradient : 0, in place: relu's backward, where no reader of y could mask the
/// gradient in its epilogue (Tensor::wants_mask). Flat over all entries of all peers: grid
/// ceil(size / (256 W)), 256 threads, W entries (16 bytes) per thread in registers; no shared
/// memory. Bound by memory bandwidth: it reads two arrays and writes one; not measured by itself.
template <class T, int W>
__global__ void mask_gradient(const T* y, T* gradient, std::size_t count) {
  backend::cuda::begin_launch();
  const std::size_t at = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * W;
  if (at >= count) return;
  float out[W], g[W];
  load(y + at, out);
  load(gradient + at, g);
#pragma unroll
  for (int k = 0; k < W; ++k) g[k] = out[k] > 0 ? g[k] : 0.0f;
  store(g, gradient + at);
}

class Conv2dStep final : public Step {
 public:
  Conv2dStep(const model::Conv2d& conv, const Site& site)
      : site_(site), bias_(conv.bias), forward_(site, geometry(conv), conv, false, site.x->data) {
    if (!site.y->wants_gradient()) return;
    site.y->wants_mask = site.relu;
    if (site.x->wants_gradient()) {
      backward_.emplace(site, transposed(conv), conv, true, site.y->gradient);
    }
    weights_ = choose_for_weights(site, geometry(conv), conv.bias);
    if (weights_.kernel == nullptr) return;
    const ConvGeometry& g = weights_.geometry;
    launch_.geometry = g;
    launch_.x = site.x->data;
    launch_.grad_output = site.y->gradient;
    launch_.x_stride = static_cast<long>(site.x->per_peer());
    launch_.y_stride = static_cast<long>(site.y->per_peer());
    launch_.in_groups = divide_up(g.in_c, weights_.kernel->in);
    launch_.tap_groups = divide_up(g.taps, weights_.kernel->taps);
    groups_ = divide_up(g.out_c, weights_.kernel->out) * launch_.in_groups * launch_.tap_groups;
    // Partial sums of many weights cost more to write and add than idle multiprocessors do.
    constexpr int kFewFloats = 16 * 16 * 9;
    const int blocks = (weights_.kernel->floats() <= kFewFloats ? 2 : 1) * site.processors;
    launch_.splits = std::clamp(blocks / (groups_ * kUsualPeers), 1, g.tiles);
    partial_ = Memory<float>(site.x->peers * static_cast<std::size_t>(launch_.splits * groups_) *
                             static_cast<std::size_t>(weights_.kernel->floats()));
    launch_.partial = partial_.data();
    launch_.weight_at = static_cast<long>(site.places.parameter[0]);
    launch_.sums_ones = conv.bias && weights_.kernel->has_columns();
    if (conv.bias) launch_.bias_at = static_cast<long>(site.places.parameter[1]);
    if (conv.bias && !launch_.sums_ones) {
      bias_parts_ =
          Memory<float>(site.x->peers * static_cast<std::size_t>(launch_.splits * g.out_c));
      launch_.bias = bias_parts_.data();
    }
    if (weights_.tma) map_tiles();
  }

  /// Whether there are kernels for this convolution.
  bool possible() const {
    return forward_.possible() && (!backward_ || backward_->possible()) &&
           (!site_.y->wants_gradient() || weights_.kernel != nullptr);
  }

  void have_packed() const {
    forward_.have_packed(*site_.forward_packer);
    if (backward_) backward_->have_packed(*site_.backward_packer);
  }

  void forward(LaunchRecorder& recorder, const Call& call) override {
    ConvLaunch launch;
    launch.y = site_.y->data;
    launch.x_stride = static_cast<long>(site_.x->per_peer());
    launch.y_stride = static_cast<long>(site_.y->per_peer());
    launch.relu = site_.relu;
    if (bias_) {
      launch.parameters = call.parameters;
      launch.bias = static_cast<long>(site_.places.parameter[1]);
    }
    Tensor& y = *site_.y;
    y.moments = {};
    if (call.training && y.wants_moments && forward_.can_sum_moments()) {
      y.moments = forward_.sum(launch);
    }
    forward_.launch(recorder, launch);
  }

  void backward(LaunchRecorder& recorder, const Call& call) override {
    if (site_.relu && !site_.y->masked) mask(recorder);
    const int stream = 1 + static_cast<int>(site_.index % kSideStreams);
    recorder.fork(stream);
    recorder.use(stream);
    const auto peers = static_cast<unsigned>(site_.x->peers);
    const WeightKernel& kernel = *weights_.kernel;
    launch_.gradient = call.gradient;
    const dim3 grid(static_cast<unsigned>(groups_), static_cast<unsigned>(launch_.splits), peers);
    const auto threads = static_cast<unsigned>(kernel.threads);
    if (weights_.tma) {
      recorder.launch(kernel.tma_for(weights_.geometry), grid, threads,
                      static_cast<std::size_t>(kernel.tma_shared_bytes(weights_.geometry)),
                      grad_output_map_, x_map_, launch_);
    } else {
      recorder.launch(kernel.launch, grid, threads,
                      static_cast<std::size_t>(kernel.shared_bytes(weights_.geometry)), launch_);
    }
    if (launch_.splits > 1 || !kernel.direct) {
      constexpr int kManySplits = 4;
      const bool many = launch_.splits > kManySplits;
      recorder.launch(many ? kernel.add_many : kernel.add,
                      dim3(static_cast<unsigned>(many ? kernel.floats() / 128 : kernel.shares),
                           static_cast<unsigned>(groups_), peers),
                      kAddThreads, 0, launch_);
    }
    recorder.use(0);
    if (!backward_) return;
    ConvLaunch launch;
    Tensor& x = *site_.x;
    launch.y = x.gradient;
    launch.x_stride = static_cast<long>(site_.y->per_peer());
    launch.y_stride = static_cast<long>(x.per_peer());
    launch.add = x.adds() ? x.gradient : nullptr;
    const bool finishes = x.is_complete() && backward_->can_sum();
    if (finishes && x.norm.x != nullptr) {
      launch.norm_x = x.norm.x;
      launch.normals = x.norm.normals;
      launch.norm_relu = x.norm.relu && !x.norm.residual;
      launch.mask = x.norm.relu && x.norm.residual ? x.data : nullptr;
      x.gradient_sums = backward_->sum(launch);
    }
    if (finishes && x.wants_mask) {
      launch.mask = x.data;
      x.masked = true;
    }
    backward_->launch(recorder, launch);
  }

 private:
  ConvGeometry geometry(const model::Conv2d& conv) const {
    const model::Shape &x = site_.x->shape, &y = site_.y->shape;
    ConvGeometry g;
    g.images = static_cast<int>(site_.x->batch);
    g.in_h = static_cast<int>(x.height);
    g.in_w = static_cast<int>(x.width);
    g.in_c = static_cast<int>(x.channels);
    g.out_h = static_cast<int>(y.height);
    g.out_w = static_cast<int>(y.width);
    g.out_c = static_cast<int>(y.channels);
    g.kernel = static_cast<int>(conv.kernel);
    g.stride = static_cast<int>(conv.stride);
    g.pad = static_cast<int>(conv.padding);
    return g;
  }

  /// Backward to the input: a convolution of grad_output, with stride and dilation exchanged.
  ConvGeometry transposed(const model::Conv2d& conv) const {
    ConvGeometry g = geometry(conv);
    std::swap(g.in_h, g.out_h);
    std::swap(g.in_w, g.out_w);
    std::swap(g.in_c, g.out_c);
    g.dilation = g.stride;
    g.stride = 1;
    g.pad = g.kernel - 1 - g.pad;
    return g;
  }

  /// Tensor maps of the weight gradient: grad_output and x, in boxes of 16 channels.
  void map_tiles() {
    const ConvGeometry& g = launch_.geometry;
    const int entry = site_.x->entry_bytes();
    const ElementType type = site_.x->type;
    ImageBox box = patch_box(g, site_.x->peers, type, 16 * entry, entry == 2);
    x_map_ = make_image_map(
        launch_.x, weights_.kernel->has_columns() ? row_box(g, site_.x->peers, type) : box);
    box.height = g.out_h;
    box.width = g.out_w;
    box.channels = g.out_c;
    box.box_height = g.tile_h;
    box.box_width = g.tile_w;
    grad_output_map_ = make_image_map(launch_.grad_output, box);
  }

  void mask(LaunchRecorder& recorder) const {
    const Tensor& y = *site_.y;
    with_width(site_.x->type, y.shape.channels,
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 recorder.launch(mask_gradient<T, W>, blocks_for(y.size() / W, 256), 256, 0,
                                 static_cast<const T*>(y.data), static_cast<T*>(y.gradient),
                                 y.size());
               });
  }

  Site site_;
  bool bias_;
  ConvDirection forward_;
  std::optional<ConvDirection> backward_;
  WeightChoice weights_;
  WeightLaunch launch_;
  int groups_ = 1;
  CUtensorMap grad_output_map_{}, x_map_{};  ///< where TMA copies the tiles
  Memory<float> partial_, bias_parts_;
};

}  // namespace

std::unique_ptr<Step> make_conv2d(const model::Conv2d& conv, const Site& site) {
  const bool fits =
      conv.padding < conv.kernel && site.x->per_peer() < INT_MAX && site.y->per_peer() < INT_MAX;
  if (fits) {
    auto step = std::make_unique<Conv2dStep>(conv, site);
    if (step->possible()) {
      step->have_packed();
      return step;
    }
  }
  return make_plain_conv2d(conv, site);
}

}  // namespace hearsay::engine::cuda
