#include <algorithm>
#include <cassert>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/core/error.h"
#include "hearsay/engine/cuda/int8/convolution.cuh"
#include "hearsay/engine/cuda/int8/weight_gradient.h"

namespace hearsay::engine::cuda::int8 {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;

/// A block's memory: the canvas, its offsets, and the sums, here or (`scratch`) in device memory.
struct Workspace {
  __device__ Workspace(const ConvSizes& s, const Extent& outputs, std::int32_t* scratch) {
    extern __shared__ __align__(16) std::byte shared[];
    canvas = reinterpret_cast<std::int8_t*>(shared);
    offsets = reinterpret_cast<std::uint32_t*>(shared + s.product.canvas_bytes());
    sums = s.sums_in_shared ? reinterpret_cast<std::int32_t*>(shared + s.product.canvas_bytes() +
                                                              s.product.offset_bytes())
                            : scratch + std::size_t{blockIdx.x} * outputs.size();
  }
  std::int8_t* canvas;
  std::uint32_t* offsets;
  std::int32_t* sums;
};

/// I u + bias of four outputs.
struct Biased {
  float unit;
  const float* bias;  ///< null: none
  __device__ float4 operator()(int4 i, unsigned channel, unsigned out) const {
    float4 t = make_float4(static_cast<float>(i.x) * unit, static_cast<float>(i.y) * unit,
                           static_cast<float>(i.z) * unit, static_cast<float>(i.w) * unit);
    if (bias == nullptr) return t;
    float* each = &t.x;
    for (unsigned k = 0; k < 4; ++k) each[k] += channel + k < out ? bias[channel + k] : 0.0f;
    return t;
  }
};
__device__ std::uint32_t magnitude_of(float4 t) {
  return max(max(magnitude_bits(t.x), magnitude_bits(t.y)),
             max(magnitude_bits(t.z), magnitude_bits(t.w)));
}
__device__ std::uint32_t codes_of(float4 t, float factor) {
  return pack4(code8(t.x, factor), code8(t.y, factor), code8(t.z, factor), code8(t.w, factor));
}

/// Where a layer's output goes: codes and scales, or the network's floats.
struct Target {
  std::int8_t* codes;
  float* scales;
  float* outputs;                   ///< not null: dense floats
  const std::uint32_t* magnitudes;  ///< of the peers' models: not finite, no outputs
};

/// y = Q8(conv(x, w) u (+ bias)), then relu; the network's last layer makes floats. A block per
/// sample (fewer blocks take several, one after the other): the canvas in shared memory, in bands
/// of rows where it is large; all sums, 4 bytes per output, in shared memory too if they fit, else
/// in device memory; then the sample's range, and its codes. 512 threads. Shared memory: canvas +
/// sums, 84 KiB for 16 channels of 32 x 32. Bound by instructions and latency: 2.4 M products of a
/// sample are 1 us of a multiprocessor's tensor cores.
__global__ void __launch_bounds__(kThreads)
    conv_forward(const std::int8_t* x, const float* x_scales, Factor weights,
                 const float* const* parameters, std::size_t bias_at, ConvSizes s,
                 std::int32_t* scratch, Target y) {
  backend::cuda::begin_launch();
  __shared__ std::uint32_t shared_max[kWarps];
  const Workspace w(s, s.y, scratch);
  find_units(s.product, w.offsets);
  for (unsigned n = blockIdx.x; n < s.y.samples; n += gridDim.x) {
    const unsigned peer = n / s.batch, band = s.product.rows;
    std::uint32_t most = 0;
    for (unsigned row = 0; row < s.y.height; row += band) {
      Product p = s.product;
      p.rows = min(band, s.y.height - row);
      fill_canvas(x + std::size_t{n} * s.x.size(), s.x,
                  {.first = static_cast<int>(row * s.stride) - static_cast<int>(s.border),
                   .left = -static_cast<int>(s.border),
                   .height = p.canvas_height(),
                   .width = p.canvas_width,
                   .pixel_bytes = p.pixel_bytes,
                   .groups = p.groups_in,
                   .first_group = 0},
                  shared_address(w.canvas));
      wait_for_copies();
      __syncthreads();
      most = max(most, multiply(p, shared_address(w.canvas), w.offsets, weights.of(peer),
                                w.sums + std::size_t{row} * s.y.width * s.y.channels));
      __syncthreads();
    }
    const unsigned quads = s.y.size() / 4;
    const auto* sums = reinterpret_cast<const int4*>(w.sums);
    auto* codes = reinterpret_cast<std::uint32_t*>(y.codes + std::size_t{n} * s.y.size());
    const float unit = x_scales[n] * weights.scale(peer);
    const bool floats = y.outputs != nullptr || bias_at != kNowhere;
    if (!floats) {
      const auto m = static_cast<float>(max_of_block(most, shared_max));
      const float factor = factor_of(m, kTop8);
      if (threadIdx.x == 0) y.scales[n] = scale_of(m, unit, kTop8);
      for (unsigned i = threadIdx.x; i < quads; i += kThreads) {
        const Biased exact{.unit = 1, .bias = nullptr};
        const std::uint32_t word = codes_of(exact(sums[i], 0, 0), factor);
        codes[i] = s.relu ? relu4(word) : word;
      }
      continue;
    }
    const Biased biased{.unit = unit,
                        .bias = bias_at == kNowhere ? nullptr : parameters[peer] + bias_at};
    if (y.outputs != nullptr) {  // one pixel
      const bool finite = y.magnitudes[peer] < 0x7f800000u;
      for (unsigned i = threadIdx.x; i < quads; i += kThreads) {
        const float4 t = biased(sums[i], 4 * i, s.out);
        for (unsigned k = 0; k < 4; ++k) {
          if (4 * i + k >= s.out) break;
          y.outputs[std::size_t{n} * s.out + 4 * i + k] =
              finite ? (&t.x)[k] : __int_as_float(0x7fffffff);
        }
      }
      __syncthreads();
      continue;
    }
    most = 0;
    for (unsigned i = threadIdx.x; i < quads; i += kThreads) {
      most = max(most, magnitude_of(biased(sums[i], 4 * i % s.y.channels, s.out)));
    }
    const float m = __uint_as_float(max_of_block(most, shared_max));
    const float factor = factor_of(m, kTop8);
    if (threadIdx.x == 0) y.scales[n] = scale_of(m, 1, kTop8);
    for (unsigned i = threadIdx.x; i < quads; i += kThreads) {
      const std::uint32_t word = codes_of(biased(sums[i], 4 * i % s.y.channels, s.out), factor);
      codes[i] = s.relu ? relu4(word) : word;
    }
  }
}

/// The gradient of a layer's output, and what it becomes.
struct Gradient {
  const float* dy;
  const std::int8_t* y;  ///< of relu: dy counts where the code is positive
  std::int16_t* codes;   ///< Q16
  float* scales;
  float* bias;         ///< [sample][channel]: sums over the pixels; null: no bias
  float* dx;           ///< null: not wanted
  unsigned add;        ///< to what is there
  unsigned operation;  ///< its random bytes
};

/// Four entries of dy, 0 where relu's output is not positive.
__device__ float4 gradient_at(const Gradient& g, const ConvSizes& s, std::size_t quad) {
  float4 d = reinterpret_cast<const float4*>(g.dy)[quad];
  if (!s.relu) return d;
  const std::uint32_t word = reinterpret_cast<const std::uint32_t*>(g.y)[quad];
  return make_float4(code_of(word, 0) > 0 ? d.x : 0.0f, code_of(word, 1) > 0 ? d.y : 0.0f,
                     code_of(word, 2) > 0 ? d.z : 0.0f, code_of(word, 3) > 0 ? d.w : 0.0f);
}

/// Rows of SR8(d) on a canvas with zeros between (stride) and around its pixels. All threads.
__device__ void draw_gradient(const Gradient& g, const ConvSizes& s, const Product& p, unsigned n,
                              unsigned first_row, const Random& random, std::int8_t* canvas) {
  const unsigned words = p.canvas_height() * p.canvas_width * p.pixel_bytes / 16;
  for (unsigned i = threadIdx.x; i < words; i += kThreads) {
    reinterpret_cast<uint4*>(canvas)[i] = make_uint4(0, 0, 0, 0);
  }
  __syncthreads();
  const unsigned groups = s.y.channels / 16, count = s.y.pixels() * groups;
  const std::int16_t* codes = g.codes + std::size_t{n} * s.y.size();
  const std::uint64_t block =
      (std::uint64_t{g.operation} << 36) + std::uint64_t{n % s.batch} * count;
  for (unsigned i = threadIdx.x; i < count; i += kThreads) {
    const unsigned pixel = i / groups;
    const int row =
        static_cast<int>(pixel / s.y.width * s.stride + s.border) - static_cast<int>(first_row);
    if (row < 0 || row >= static_cast<int>(p.canvas_height())) continue;
    const unsigned column = pixel % s.y.width * s.stride + s.border;
    const auto bytes = random.words(block + i);
    const Sixteen d(reinterpret_cast<const uint4*>(codes) + 2 * std::size_t{i});
    *reinterpret_cast<uint4*>(
        canvas + (static_cast<unsigned>(row) * p.canvas_width + column) * p.pixel_bytes +
        16 * (i % groups)) = d.rounded(bytes);
  }
}

/// d = Q16(dy), and dx = conv(SR8(d), turned w) ((256 s_d) s_w). A block per sample, as
/// conv_forward: the range of dy, its codes (to device memory: the weights' gradients need them),
/// their rounding to a canvas in shared memory, the product, floats. dy is read twice, the second
/// time from a cache. Bound by instructions: ten rounds of Philox per 16 entries, and by memory
/// with many peers: 4 bytes read and 2 written per output, 4 written per input.
__global__ void __launch_bounds__(kThreads)
    conv_backward(Gradient g, Factor weights, const StreamKey* keys, ConvSizes s,
                  std::int32_t* scratch) {
  backend::cuda::begin_launch();
  __shared__ std::uint32_t shared_max[kWarps];
  const Workspace w(s, s.x, scratch);
  if (g.dx != nullptr) find_units(s.product, w.offsets);
  for (unsigned n = blockIdx.x; n < s.y.samples; n += gridDim.x) {
    const unsigned peer = n / s.batch, quads = s.y.size() / 4;
    const std::size_t first = std::size_t{n} * quads;
    std::uint32_t most = 0;
    for (unsigned i = threadIdx.x; i < quads; i += kThreads) {
      most = max(most, magnitude_of(gradient_at(g, s, first + i)));
    }
    const float m = __uint_as_float(max_of_block(most, shared_max));
    const float factor = factor_of(m, kTop16), scale = scale_of(m, 1, kTop16);
    if (threadIdx.x == 0) g.scales[n] = scale;
    for (unsigned i = threadIdx.x; i < quads; i += kThreads) {
      const float4 d = gradient_at(g, s, first + i);
      short4 code;
      code.x = code16(d.x, factor);
      code.y = code16(d.y, factor);
      code.z = code16(d.z, factor);
      code.w = code16(d.w, factor);
      reinterpret_cast<short4*>(g.codes)[first + i] = code;
    }
    if (g.bias != nullptr) {
      for (unsigned c = threadIdx.x; c < s.out; c += kThreads) {
        double sum = 0;
        for (unsigned pixel = 0; pixel < s.y.pixels(); ++pixel) {
          const float4 d = gradient_at(g, s, first + (pixel * s.y.channels + c) / 4);
          sum += static_cast<double>(c % 4 == 0 ? d.x : c % 4 == 1 ? d.y : c % 4 == 2 ? d.z : d.w);
        }
        g.bias[std::size_t{n} * s.y.channels + c] = static_cast<float>(sum);
      }
    }
    if (g.dx == nullptr) continue;
    const Random random = keys[peer].stream(Purpose::kQuantize);
    for (unsigned row = 0; row < s.x.height; row += s.product.rows) {
      Product p = s.product;
      p.rows = min(s.product.rows, s.x.height - row);
      __syncthreads();
      draw_gradient(g, s, p, n, row, random, w.canvas);
      __syncthreads();
      multiply(p, shared_address(w.canvas), w.offsets, weights.of(peer),
               w.sums + std::size_t{row} * s.x.width * s.x.channels);
    }
    __syncthreads();
    const float unit = 256 * scale * weights.scale(peer);
    const auto* sums = reinterpret_cast<const int4*>(w.sums);
    auto* dx = reinterpret_cast<float4*>(g.dx) + std::size_t{n} * (s.x.size() / 4);
    for (unsigned i = threadIdx.x; i < s.x.size() / 4; i += kThreads) {
      const int4 sum = sums[i];
      float4 d = make_float4(static_cast<float>(sum.x) * unit, static_cast<float>(sum.y) * unit,
                             static_cast<float>(sum.z) * unit, static_cast<float>(sum.w) * unit);
      if (g.add) {
        const float4 there = dx[i];
        d = make_float4(there.x + d.x, there.y + d.y, there.z + d.z, there.w + d.w);
      }
      dx[i] = d;
    }
  }
}

/// A convolution, its bias and relu; or a linear layer, which is one of a single pixel.
class Conv2dStep final : public Step {
 public:
  Conv2dStep(const model::Conv2d& conv, const Site& site)
      : site_(site),
        wants_dx_(site.training && site.x->wants_gradient()),
        bias_at_(conv.bias ? site.places.parameter[1] : kNowhere),
        tensor_(site.weights->add(site.places.parameter[0], conv.out, site.x->shape.channels,
                                  conv.kernel * conv.kernel, wants_dx_)),
        forward_(forward_shape(conv, site)),
        backward_(backward_shape(conv, site)) {
    fit(forward_, forward_.y, forward_bytes_);
    if (wants_dx_) fit(backward_, backward_.x, backward_bytes_);
    blocks_ = std::min<unsigned>(forward_.y.samples, kBlocks * site.processors);
    const std::size_t sums =
        std::max(forward_.sums_in_shared ? 0 : forward_.y.size(),
                 !wants_dx_ || backward_.sums_in_shared ? 0 : backward_.x.size());
    scratch_ = Memory<std::int32_t>(blocks_ * sums);
    if (!site.training) return;
    codes_ = Memory<std::int16_t>(site.y->size());
    scales_ = Memory<float>(site.y->samples());
    weight_gradient_ = std::make_unique<WeightGradient>(
        conv, site.places.parameter[0], *site.x, *site.y, codes_.data(), scales_.data(),
        site.processors, site.shared_bytes, *site.sums);
    if (!conv.bias) return;
    bias_sums_ = Memory<float>(site.y->samples() * site.y->channels());
    site.sums->add({.at = bias_at_,
                    .count = static_cast<unsigned>(conv.out),
                    .stride = static_cast<unsigned>(site.y->channels()),
                    .parts = bias_sums_.data(),
                    .sums = static_cast<unsigned>(site.y->batch)});
  }

  void forward(LaunchRecorder& recorder, const Call& call) override {
    const PackedTensor& packed = site_.weights->tensor(tensor_);
    recorder.launch(conv_forward, blocks_, kThreads, forward_bytes_, site_.x->codes,
                    site_.x->scales,
                    {.words = packed.forward,
                     .words_of_peer = packed.forward_words,
                     .magnitudes = site_.weights->magnitudes(tensor_)},
                    call.parameters, bias_at_, forward_, scratch_.data(),
                    {.codes = site_.y->codes,
                     .scales = site_.y->scales,
                     .outputs = site_.outputs,
                     .magnitudes = site_.weights->magnitudes_of_models()});
  }

  void backward(LaunchRecorder& recorder, const Call& call) override {
    const PackedTensor& packed = site_.weights->tensor(tensor_);
    recorder.launch(conv_backward, blocks_, kThreads, backward_bytes_,
                    {.dy = site_.y->gradient,
                     .y = site_.y->codes,
                     .codes = codes_.data(),
                     .scales = scales_.data(),
                     .bias = bias_sums_.data(),
                     .dx = wants_dx_ ? site_.x->gradient : nullptr,
                     .add = wants_dx_ && site_.x->adds(),
                     .operation = static_cast<unsigned>(site_.index)},
                    {.words = packed.turned,
                     .words_of_peer = packed.turned_words,
                     .magnitudes = site_.weights->magnitudes(tensor_)},
                    call.dropout_keys, backward_, scratch_.data());
    weight_gradient_->compute(recorder, call);
  }

 private:
  static constexpr unsigned kBlocks = 2;  ///< per multiprocessor

  /// Decides where the sums are and how many rows a band has, so that a block's memory suffices.
  void fit(ConvSizes& s, const Extent& outputs, unsigned& bytes) const {
    const unsigned offsets = s.product.offset_bytes();
    const std::size_t sums = std::size_t{outputs.size()} * sizeof(std::int32_t);
    const auto most = static_cast<std::size_t>(site_.shared_bytes) - 1024;
    s.sums_in_shared = s.product.canvas_bytes() + offsets + sums <= most;
    while (!s.sums_in_shared && s.product.canvas_bytes() + offsets > most && s.product.rows > 1) {
      s.product.rows = (s.product.rows + 1) / 2;
    }
    bytes =
        s.product.canvas_bytes() + offsets + (s.sums_in_shared ? static_cast<unsigned>(sums) : 0);
    if (bytes <= most) return;
    throw InvalidArgument(
        "[precision] int8 on a GPU needs a convolution's rows in shared memory, and those of " +
        std::to_string(outputs.width) + " pixels of " + std::to_string(s.product.groups_in * 16) +
        " channels do not fit; use smaller images, fewer channels, or another precision");
  }

  Site site_;
  bool wants_dx_;
  std::size_t bias_at_, tensor_;
  ConvSizes forward_, backward_;
  unsigned forward_bytes_ = 0, backward_bytes_ = 0, blocks_ = 0;
  Memory<std::int32_t> scratch_;
  Memory<std::int16_t> codes_;  ///< Q16 of the output's gradient
  Memory<float> scales_, bias_sums_;
  std::unique_ptr<WeightGradient> weight_gradient_;
};

}  // namespace

std::unique_ptr<Step> make_conv2d(const model::Conv2d& conv, const Site& site) {
  return std::make_unique<Conv2dStep>(conv, site);
}

std::unique_ptr<Step> make_linear(const model::Linear& linear, const Site& site) {
  assert(site.x->shape.pixels() == 1);
  return make_conv2d(
      {.out = linear.out, .kernel = 1, .stride = 1, .padding = 0, .bias = linear.bias}, site);
}

}  // namespace hearsay::engine::cuda::int8
