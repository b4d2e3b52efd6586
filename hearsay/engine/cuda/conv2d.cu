#include <algorithm>
#include <climits>
#include <optional>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/conv_kernels.h"
#include "hearsay/engine/cuda/image_map.h"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/weight_packer.h"

namespace hearsay::engine::cuda {

std::span<const ConvKernel> conv_kernels(backend::Precision precision) {
  return precision == backend::Precision::kTf32   ? conv_kernels_tf32()
         : precision == backend::Precision::kFp32 ? conv_kernels_fp32()
                                                  : conv_kernels_bf16();
}

std::span<const WeightKernel> weight_kernels(backend::Precision precision) {
  return precision == backend::Precision::kTf32   ? weight_kernels_tf32()
         : precision == backend::Precision::kFp32 ? weight_kernels_fp32()
                                                  : weight_kernels_bf16();
}

namespace {

using backend::cuda::Memory;
using backend::cuda::Tape;

constexpr int kSideLanes = 2;  // for the gradients of weights, which nobody waits for

/// A run must have the same bits beside others as alone, so nothing that decides the order of a sum
/// may depend on how many peers there are: kernels and splits are chosen for this many.
constexpr int kUsualPeers = 4;

constexpr int kWidestBox = 256;  // that the hardware copies at once

int up(int n, int d) { return (n + d - 1) / d; }

/// A kernel and the tiles it goes over a tensor in.
template <class Kernel>
struct Choice {
  const Kernel* kernel = nullptr;
  ConvGeometry geometry;
  bool resident = false;  ///< ConvLaunch
};

/// The forward kernel that wastes least: of the products it forms, counted with the channels and
/// pixels that only fill up fragments, and with processors that go without a block.
Choice<ConvKernel> choose(const Site& site, ConvGeometry g, int entry_bytes, bool backward) {
  Choice<ConvKernel> best;
  double least = 0;
  const bool can_bulk = site.bulk_copies && g.kernel == 3 && g.dilation == 1;
  for (const ConvKernel& kernel : conv_kernels(site.precision)) {
    if (kernel.whole != (g.in_c * entry_bytes % 16 == 0) || !kernel.takes(g)) continue;
    lay_tiles(g, kernel.pixels);
    const int chunks = up(g.in_c * entry_bytes, kernel.bytes);
    if (kernel.is_bulk() ? !can_bulk || g.in_c * entry_bytes % kernel.bytes != 0 ||
                               std::max(g.patch_h, g.patch_w) > kWidestBox
                         : best.kernel != nullptr && best.kernel->is_bulk()) {
      continue;
    }
    const bool resident =
        kernel.is_bulk() && kernel.shared_bytes(g, chunks, true, backward) <= site.shared_bytes;
    if (!resident && kernel.shared_bytes(g, chunks, false, backward) > site.shared_bytes) continue;
    const double blocks = static_cast<double>(g.tiles) * up(g.out_c, kernel.out) * kUsualPeers;
    const double products = static_cast<double>(kernel.pixels) * kernel.out * chunks * kernel.bytes;
    const double waves = std::max(1.0, blocks / site.processors);
    // Bytes that a fragment's products need from shared memory fall with the size of the block.
    const double reads = 1.0 / kernel.pixels + 1.0 / kernel.out;
    // A chunk that is loaded while nothing is computed costs as much as this many products.
    const double waits = chunks * (chunks > 1 ? 40e3 : 60e3);
    const double cost = waves * (products + waits) * (1 + 16 * reads);
    if (best.kernel == nullptr || cost < least) {
      best = {&kernel, g, resident};
      least = cost;
    }
  }
  return best;
}

Choice<WeightKernel> choose_for_weights(const Site& site, ConvGeometry g, int entry_bytes) {
  Choice<WeightKernel> best;
  double least = 0;
  const bool whole = g.in_c * entry_bytes % 16 == 0 && g.out_c * entry_bytes % 16 == 0;
  for (const WeightKernel& kernel : weight_kernels(site.precision)) {
    if (kernel.whole != whole) continue;
    lay_tiles(g, kernel.pixels);
    if (kernel.shared_bytes(g) > site.shared_bytes) continue;
    const int taps = g.taps;
    // Products, and what is read for them: channels that only fill up count in both.
    const double out = up(g.out_c, kernel.out) * kernel.out, in = up(g.in_c, kernel.in) * kernel.in;
    const double cost = out * in * up(taps, kernel.taps) * kernel.taps *
                        (1 + 8.0 / kernel.out + 8.0 / kernel.in / kernel.taps) * g.tiles *
                        kernel.pixels;
    if (best.kernel == nullptr || cost < least) {
      best = {&kernel, g};
      least = cost;
    }
  }
  return best;
}

/// The gradient of what went into relu, in its place.
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

/// A convolution in one direction: its kernel, tiles and packed weights.
class Direction {
 public:
  Direction(const Site& site, const ConvGeometry& geometry, const model::Conv2d& conv,
            bool backward)
      : entry_(site.precision == backend::Precision::kBf16 ? 2 : 4),
        choice_(choose(site, geometry, entry_, backward)),
        backward_(backward) {
    if (choice_.kernel == nullptr) return;
    const ConvGeometry& g = choice_.geometry;
    chunks_ = up(g.in_c * entry_, kernel().bytes);
    shared_bytes_ = kernel().shared_bytes(g, chunks_, choice_.resident, backward);
    if (kernel().is_bulk()) {
      tiles_at_once_ = std::max(
          backend::cuda::blocks_at_once(reinterpret_cast<const void*>(kernel().bulk_3x3[backward]),
                                        kernel().threads, static_cast<std::size_t>(shared_bytes_)),
          1);
    }
    groups_ = up(g.out_c, kernel().out);
    peer_bytes_ = static_cast<long>(groups_) * chunks_ * kernel().weight_bytes(g);
    packed_ = Memory<char>(site.x->peers * static_cast<std::size_t>(peer_bytes_));
    job_ = {.weight_at = static_cast<long>(site.places.parameter[0]),
            .out = static_cast<int>(conv.out),
            .in = static_cast<int>(site.x->shape.channels),
            .taps = g.taps,
            .exchanged = backward,
            .outputs_a_group = kernel().out,
            .inputs_a_chunk = kernel().bytes / entry_,
            .pitch_entries = kernel().pitch / entry_,
            .groups = groups_,
            .chunks = chunks_,
            .packed = packed_.data(),
            .peer_bytes = peer_bytes_};
  }

  bool possible() const { return choice_.kernel != nullptr; }

  /// From now on every call of the plan begins with packing these weights too.
  void have_packed(WeightPacker& packer) const { packer.add(job_); }

  /// Whether a launch can sum up what it writes, for each channel.
  bool can_sum() const { return choice_.geometry.out_c % kernel().out == 0; }
  /// Whether those can be moments: all tiles must be as large.
  bool can_sum_moments() const {
    const ConvGeometry& g = choice_.geometry;
    return can_sum() && g.images % g.tile_i == 0 && g.out_h % g.tile_h == 0 &&
           g.out_w % g.tile_w == 0;
  }

  /// Lets `launch` do so; the sums stand where this says.
  TileSums sum(ConvLaunch& launch, std::size_t peers) {
    const ConvGeometry& g = choice_.geometry;
    if (sums_.size() == 0) {
      sums_ = Memory<float2>(peers * static_cast<std::size_t>(g.tiles * g.out_c));
    }
    launch.sums = sums_.data();
    return {sums_.data(), static_cast<unsigned long>(g.tiles)};
  }

  void launch(Tape& tape, ConvLaunch launch, std::size_t peers) {
    const ConvGeometry& g = choice_.geometry;
    launch.geometry = g;
    launch.weights = packed_.data();
    launch.weights_stride = peer_bytes_;
    launch.chunks = chunks_;
    launch.resident = choice_.resident;
    const auto threads = static_cast<unsigned>(kernel().threads);
    const auto shared = static_cast<std::size_t>(shared_bytes_);
    dim3 grid(static_cast<unsigned>(g.tiles), static_cast<unsigned>(groups_),
              static_cast<unsigned>(peers));
    if (!kernel().is_bulk()) {
      tape.launch(kernel().launch(g, backward_), grid, threads, shared, launch);
      return;
    }
    if (mapped_ != launch.x) {
      mapped_ = launch.x;
      map_ = make_image_map(launch.x, {.entry_bytes = entry_,
                                       .images = g.images * static_cast<int>(peers),
                                       .height = g.in_h,
                                       .width = g.in_w,
                                       .channels = g.in_c,
                                       .box_images = g.tile_i,
                                       .box_height = g.patch_h,
                                       .box_width = g.patch_w,
                                       .box_bytes = kernel().bytes,
                                       .swizzled = true});
    }
    // As many blocks as there is room for at once; each takes its share of the tiles.
    const int all = g.tiles * groups_ * static_cast<int>(peers);
    grid.x = static_cast<unsigned>(up(g.tiles, up(all, tiles_at_once_)));
    tape.launch(kernel().bulk_3x3[backward_], grid, threads, shared, map_, launch);
  }

 private:
  const ConvKernel& kernel() const { return *choice_.kernel; }
  int entry_;
  Choice<ConvKernel> choice_;
  bool backward_;
  int chunks_ = 1, groups_ = 1;
  int shared_bytes_ = 0, tiles_at_once_ = 1;
  const void* mapped_ = nullptr;
  CUtensorMap map_{};
  long peer_bytes_ = 0;
  Memory<char> packed_;
  PackedWeights job_;
  Memory<float2> sums_;
};

class Conv2dStep final : public Step {
 public:
  Conv2dStep(const model::Conv2d& conv, const Site& site)
      : site_(site), bias_(conv.bias), forward_(site, geometry(conv), conv, false) {
    if (!site.y->wants_gradient()) return;
    if (site.x->wants_gradient()) backward_.emplace(site, transposed(conv), conv, true);
    const int entry = site.precision == backend::Precision::kBf16 ? 2 : 4;
    weights_ = choose_for_weights(site, geometry(conv), entry);
    if (weights_.kernel == nullptr) return;
    const ConvGeometry& g = weights_.geometry;
    bulk_ = site.bulk_copies && weights_.kernel->bulk != nullptr && g.in_c % 16 == 0 &&
            g.out_c % 16 == 0 && g.images % g.tile_i == 0 &&
            std::max(g.patch_h, g.patch_w) <= kWidestBox &&
            weights_.kernel->bulk_shared_bytes(g) <= site.shared_bytes;
    launch_.geometry = g;
    launch_.slope = site.y->gradient;
    launch_.x_stride = static_cast<long>(site.x->per_peer());
    launch_.y_stride = static_cast<long>(site.y->per_peer());
    launch_.in_groups = up(g.in_c, weights_.kernel->in);
    launch_.tap_groups = up(g.taps, weights_.kernel->taps);
    groups_ = up(g.out_c, weights_.kernel->out) * launch_.in_groups * launch_.tap_groups;
    // Parts of many weights take longer to write and to add than processors take that wait.
    constexpr int kFewFloats = 16 * 16 * 9;
    const int blocks = (weights_.kernel->floats() <= kFewFloats ? 2 : 1) * site.processors;
    launch_.splits = std::clamp(blocks / (groups_ * kUsualPeers), 1, g.tiles);
    partial_ = Memory<float>(site.x->peers * static_cast<std::size_t>(launch_.splits * groups_) *
                             static_cast<std::size_t>(weights_.kernel->floats()));
    launch_.partial = partial_.data();
    launch_.weight_at = static_cast<long>(site.places.parameter[0]);
    if (conv.bias) {
      bias_parts_ =
          Memory<float>(site.x->peers * static_cast<std::size_t>(launch_.splits * g.out_c));
      launch_.bias = bias_parts_.data();
      launch_.bias_at = static_cast<long>(site.places.parameter[1]);
    }
  }

  /// Whether there are kernels for this convolution.
  bool possible() const {
    return forward_.possible() && (!backward_ || backward_->possible()) &&
           (!site_.y->wants_gradient() || weights_.kernel != nullptr);
  }

  void have_packed() const {
    forward_.have_packed(*site_.packer);
    if (backward_) backward_->have_packed(*site_.packer);
  }

  void forward(Tape& tape, const Call& call) override {
    ConvLaunch launch;
    launch.x = site_.x->data;
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
      y.moments = forward_.sum(launch, y.peers);
    }
    forward_.launch(tape, launch, y.peers);
  }

  void backward(Tape& tape, const Call& call) override {
    if (site_.relu) mask(tape);
    const int lane = 1 + static_cast<int>(site_.index % kSideLanes);
    tape.fork(lane);
    tape.use(lane);
    const auto peers = static_cast<unsigned>(site_.x->peers);
    const WeightKernel& kernel = *weights_.kernel;
    launch_.x = site_.x->data;
    launch_.gradient = call.gradient;
    const dim3 grid(static_cast<unsigned>(groups_), static_cast<unsigned>(launch_.splits), peers);
    const auto threads = static_cast<unsigned>(kernel.threads);
    if (bulk_) {
      if (mapped_ != launch_.x) map_tiles();
      tape.launch(kernel.bulk, grid, threads,
                  static_cast<std::size_t>(kernel.bulk_shared_bytes(weights_.geometry)), slope_map_,
                  x_map_, launch_);
    } else {
      tape.launch(kernel.launch, grid, threads,
                  static_cast<std::size_t>(kernel.shared_bytes(weights_.geometry)), launch_);
    }
    if (launch_.splits > 1 || !kernel.direct) {
      constexpr int kManySplits = 4;
      const bool many = launch_.splits > kManySplits;
      tape.launch(many ? kernel.add_many : kernel.add,
                  dim3(static_cast<unsigned>(many ? kernel.floats() / 128 : kernel.shares),
                       static_cast<unsigned>(groups_), peers),
                  kAddThreads, 0, launch_);
    }
    tape.use(0);
    if (!backward_) return;
    ConvLaunch launch;
    Tensor& x = *site_.x;
    launch.x = site_.y->gradient;
    launch.y = x.gradient;
    launch.x_stride = static_cast<long>(site_.y->per_peer());
    launch.y_stride = static_cast<long>(x.per_peer());
    launch.add = x.adds() ? x.gradient : nullptr;
    if (x.norm.x != nullptr && x.contributions == x.readers && backward_->can_sum()) {
      launch.norm_x = x.norm.x;
      launch.norm_y = x.norm.relu && x.norm.residual ? x.data : nullptr;
      launch.normals = x.norm.normals;
      launch.norm_relu = x.norm.relu;
      x.gradient_sums = backward_->sum(launch, x.peers);
    }
    backward_->launch(tape, launch, x.peers);
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

  /// From the output's gradient to the input's.
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

  /// For the gradient of the weights, in boxes of 16 channels.
  void map_tiles() {
    const ConvGeometry& g = launch_.geometry;
    const int entry = site_.precision == backend::Precision::kBf16 ? 2 : 4;
    ImageBox box{.entry_bytes = entry,
                 .images = g.images * static_cast<int>(site_.x->peers),
                 .height = g.in_h,
                 .width = g.in_w,
                 .channels = g.in_c,
                 .box_images = g.tile_i,
                 .box_height = g.patch_h,
                 .box_width = g.patch_w,
                 .box_bytes = 16 * entry,
                 .swizzled = entry == 2};
    mapped_ = launch_.x;
    x_map_ = make_image_map(launch_.x, box);
    box.height = g.out_h;
    box.width = g.out_w;
    box.channels = g.out_c;
    box.box_height = g.tile_h;
    box.box_width = g.tile_w;
    slope_map_ = make_image_map(launch_.slope, box);
  }

  void mask(Tape& tape) const {
    const Tensor& y = *site_.y;
    with_width(site_.precision, y.shape.channels,
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 tape.launch(mask_gradient<T, W>, blocks_for(y.size() / W, 256), 256, 0,
                             static_cast<const T*>(y.data), static_cast<T*>(y.gradient), y.size());
               });
  }

  Site site_;
  bool bias_;
  Direction forward_;
  std::optional<Direction> backward_;
  Choice<WeightKernel> weights_;
  WeightLaunch launch_;
  int groups_ = 1;
  bool bulk_ = false;
  const void* mapped_ = nullptr;
  CUtensorMap slope_map_{}, x_map_{};
  Memory<float> partial_, bias_parts_;
};

}  // namespace

std::unique_ptr<Step> make_conv2d(const model::Conv2d& conv, const Site& site) {
  const bool fits = conv.groups == 1 && conv.padding < conv.kernel &&
                    site.x->per_peer() < INT_MAX && site.y->per_peer() < INT_MAX;
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
