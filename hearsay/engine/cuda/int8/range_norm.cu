#include <cmath>
#include <numbers>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/int8/range_norm.cuh"

namespace hearsay::engine::cuda::int8 {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;
using model::RangeEvoNorm;

/// The output before its rounding, of the four channels of a thread.
struct Forward {
  __device__ Forward(const Norm& norm, const float* model, const float* spread, unsigned channel,
                     float s) {
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned c = channel + k;
      const bool real = c < norm.channels;
      line[k] = Gate(norm, model, c, s).line;
      factor[k] = real ? model[norm.weight + c] * spread[c / norm.members] * s : 0.0f;
      bias[k] = real ? model[norm.bias + c] : 0.0f;
    }
  }
  __device__ float value(unsigned k, std::uint32_t word) const {
    const auto q = static_cast<float>(code_of(word, static_cast<int>(k)));
    return factor[k] * q * clamped(line[k] * q + 0.5f) + bias[k];
  }
  float line[4], factor[4], bias[4];
};

/// y = Q8(weight S s q t + bias (+ residual)). Codes are read three times (extremes, range, codes),
/// after the first from L1. 512 threads, each with four channels of some pixels; shared memory: the
/// extremes of all runs. Bound by instructions and latency.
__global__ void __launch_bounds__(kThreads)
    norm_forward(Norm norm, const std::int8_t* x, const float* scales, const std::int8_t* residual,
                 const float* residual_scales, const float* const* parameters, std::int8_t* y,
                 float* y_scales) {
  backend::cuda::begin_launch();
  extern __shared__ __align__(16) std::byte shared[];
  __shared__ std::uint32_t shared_max[kWarps];
  auto* high = reinterpret_cast<int*>(shared);
  int* low = high + norm.runs();
  auto* spread = reinterpret_cast<float*>(low + norm.runs());
  const unsigned quads_of_pixel = norm.x.channels / 4, pixels = norm.x.pixels();
  const unsigned channel = threadIdx.x % quads_of_pixel * 4;
  const unsigned slots = kThreads / quads_of_pixel;
  const unsigned first_pixel = threadIdx.x / quads_of_pixel;
  for (unsigned n = blockIdx.x; n < norm.x.samples; n += gridDim.x) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(x + std::size_t{n} * norm.x.size());
    const float* model = parameters[n / norm.batch];
    const float s = scales[n];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < norm.runs(); i += kThreads) high[i] = -128, low[i] = 127;
    __syncthreads();
    // A thread's pixels are neighbours here, so that most are of one run.
    const unsigned each = (pixels + slots - 1) / slots;
    const unsigned end = first_pixel < slots ? min(pixels, (first_pixel + 1) * each) : 0;
    for (unsigned p = first_pixel * each; p < end;) {
      std::uint32_t most = 0x80808080u, least = 0x7f7f7f7fu;
      const unsigned c0 = min(channel, norm.channels - 1);
      const unsigned rest = norm.run - (c0 % norm.members * pixels + p) % norm.run;
      const bool same = pixels % norm.run == 0;  // then runs of all channels end at the same pixel
      const unsigned stop = same ? min(end, p + rest) : p + 1;
      for (unsigned at = p; at < stop; ++at) {
        const std::uint32_t word = words[at * quads_of_pixel + channel / 4];
        most = __vmaxs4(most, word);
        least = __vmins4(least, word);
      }
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        if (channel + k >= norm.channels) break;
        const unsigned run = norm.run_of(channel + k, p);
        atomicMax(high + run, code_of(most, static_cast<int>(k)));
        atomicMin(low + run, code_of(least, static_cast<int>(k)));
      }
      p = stop;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < norm.runs(); i += kThreads) {
      std::int8_t* extremes = norm.extremes + std::size_t{n} * 2 * norm.runs();
      extremes[i] = static_cast<std::int8_t>(high[i]);
      extremes[norm.runs() + i] = static_cast<std::int8_t>(low[i]);
    }
    for (unsigned group = threadIdx.x; group < norm.groups; group += kThreads) {
      spread[group] = norm.spread_of(group, high, low, s);
      norm.spread[std::size_t{n} * norm.groups + group] = spread[group];
    }
    __syncthreads();
    const Forward forward(norm, model, spread, channel, s);
    const auto* others =
        residual == nullptr
            ? nullptr
            : reinterpret_cast<const std::uint32_t*>(residual + std::size_t{n} * norm.x.size());
    const float other_scale = residual == nullptr ? 0.0f : residual_scales[n];
    const auto value = [&](unsigned k, std::uint32_t word, std::uint32_t other) {
      const float own = forward.value(k, word);
      if (others == nullptr) return own;
      return static_cast<float>(code_of(other, static_cast<int>(k))) * other_scale + own;
    };
    std::uint32_t most = 0;
    const unsigned begin = first_pixel < slots ? first_pixel : pixels;
    for (unsigned p = begin; p < pixels; p += slots) {
      const unsigned at = p * quads_of_pixel + channel / 4;
      const std::uint32_t word = words[at], other = others == nullptr ? 0 : others[at];
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) most = max(most, magnitude_bits(value(k, word, other)));
    }
    const float m = __uint_as_float(max_of_block(most, shared_max));
    const float factor = factor_of(m, kTop8);
    if (threadIdx.x == 0) y_scales[n] = scale_of(m, 1, kTop8);
    auto* out = reinterpret_cast<std::uint32_t*>(y + std::size_t{n} * norm.x.size());
    for (unsigned p = begin; p < pixels; p += slots) {
      const unsigned at = p * quads_of_pixel + channel / 4;
      const std::uint32_t word = words[at], other = others == nullptr ? 0 : others[at];
      out[at] = pack4(code8(value(0, word, other), factor), code8(value(1, word, other), factor),
                      code8(value(2, word, other), factor), code8(value(3, word, other), factor));
    }
  }
}

/// What backward keeps in shared memory.
struct Workspace {
  __device__ explicit Workspace(const Norm& norm) {
    extern __shared__ __align__(16) std::byte shared[];
    sums = reinterpret_cast<double*>(shared);
    own = sums + 3 * norm.x.channels;
    parts = reinterpret_cast<float*>(own + norm.groups);
    counts = reinterpret_cast<int*>(parts + 3 * norm.x.height * norm.x.channels);
    shares = reinterpret_cast<float*>(counts + 2 * norm.runs());
    extremes = reinterpret_cast<std::int8_t*>(shares + 2 * norm.runs());
  }
  static unsigned bytes(const Extent& x, unsigned groups) {
    return 8 * (3 * x.channels + groups) + 12 * x.height * x.channels + groups * kRuns * 18 + 16;
  }
  double* sums;   ///< [sum of g, of g (q t), of g q q inside][channel]
  double* own;    ///< of a group: the sum of weight s P
  float* parts;   ///< [which][row][channel]
  int* counts;    ///< [high, low][run]
  float* shares;  ///< likewise
  std::int8_t* extremes;
};

/// The gradients of x, and a sample's of the parameters. Sums along a row are made by a thread in
/// float, over rows in double, as on the CPU; then every extreme gets its share. dy and codes are
/// read twice. Shared memory: 12 bytes per row and channel, 6 KiB for 16 channels of 32 x 32.
__global__ void __launch_bounds__(kThreads)
    norm_backward(Norm norm, const std::int8_t* x, const float* scales,
                  const float* const* parameters, const float* dy, float* parts, float* dx,
                  unsigned add) {
  backend::cuda::begin_launch();
  const Workspace w(norm);
  const unsigned channels = norm.x.channels, pixels = norm.x.pixels(), runs = norm.runs();
  for (unsigned n = blockIdx.x; n < norm.x.samples; n += gridDim.x) {
    const std::int8_t* q = x + std::size_t{n} * norm.x.size();
    const float* g = dy + std::size_t{n} * norm.x.size();
    const float* model = parameters[n / norm.batch];
    const float s = scales[n];
    const float* spread = norm.spread + std::size_t{n} * norm.groups;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 2 * runs; i += kThreads) {
      w.counts[i] = 0;
      w.extremes[i] = norm.extremes[std::size_t{n} * 2 * runs + i];
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < norm.x.height * channels; i += kThreads) {
      const unsigned c = i % channels, row = i / channels;
      if (c >= norm.channels) continue;
      const Gate gate(norm, model, c, s);
      float sum = 0, product = 0, square = 0;
      unsigned run = norm.run_of(c, row * norm.x.width);
      unsigned rest = norm.run - (c % norm.members * pixels + row * norm.x.width) % norm.run;
      int highs = 0, lows = 0;
      for (unsigned column = 0; column < norm.x.width; ++column) {
        if (rest-- == 0) {
          if (highs) atomicAdd(w.counts + run, highs);
          if (lows) atomicAdd(w.counts + runs + run, lows);
          highs = lows = 0;
          ++run;
          rest = norm.run - 1;
        }
        const unsigned at = (row * norm.x.width + column) * channels + c;
        const std::int8_t code = q[at];
        highs += code == w.extremes[run];
        lows += code == w.extremes[runs + run];
        const float e = g[at], value = code, line = gate.at(value);
        sum += e;
        product += e * (value * clamped(line));
        square += line >= 0 && line <= 1 ? e * value * value : 0.0f;
      }
      if (highs) atomicAdd(w.counts + run, highs);
      if (lows) atomicAdd(w.counts + runs + run, lows);
      float* to = w.parts + row * channels + c;
      to[0] = sum;
      to[norm.x.height * channels] = product;
      to[2 * norm.x.height * channels] = square;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 3 * channels; i += kThreads) {
      const unsigned which = i / channels, c = i % channels;
      if (c >= norm.channels) continue;
      const float* from = w.parts + which * norm.x.height * channels + c;
      double sum = 0;
      for (unsigned row = 0; row < norm.x.height; ++row) {
        sum += static_cast<double>(from[row * channels]);
      }
      w.sums[i] = sum;
      norm.write_part(parts + std::size_t{n} * 3 * channels, which, c, sum, spread, model, s);
    }
    if (dx == nullptr) continue;
    __syncthreads();
    for (unsigned group = threadIdx.x; group < norm.groups; group += kThreads) {
      w.own[group] = norm.range_gradient(w.sums + channels, group, model, s);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < runs; i += kThreads) {
      const float d = norm.gradient_of_run(w.own[i / kRuns], spread[i / kRuns]);
      w.shares[i] = d / static_cast<float>(w.counts[i]);
      w.shares[runs + i] = -d / static_cast<float>(w.counts[runs + i]);
    }
    __syncthreads();
    const unsigned quads_of_pixel = channels / 4, slots = kThreads / quads_of_pixel;
    const unsigned channel = threadIdx.x % quads_of_pixel * 4;
    if (threadIdx.x / quads_of_pixel >= slots) continue;
    float line[4], factor[4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned c = channel + k;
      line[k] = Gate(norm, model, c, s).line;
      factor[k] = c < norm.channels ? model[norm.weight + c] * spread[c / norm.members] : 0.0f;
    }
    for (unsigned p = threadIdx.x / quads_of_pixel; p < pixels; p += slots) {
      const unsigned at = p * quads_of_pixel + channel / 4;
      const std::uint32_t word = reinterpret_cast<const std::uint32_t*>(q)[at];
      const float4 e = reinterpret_cast<const float4*>(g)[at];
      float d[4] = {e.x, e.y, e.z, e.w};
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        if (channel + k >= norm.channels) {
          d[k] = 0;
          continue;
        }
        const int code = code_of(word, static_cast<int>(k));
        const auto value = static_cast<float>(code);
        const float at_gate = line[k] * value + 0.5f;
        const float slope =
            clamped(at_gate) + (at_gate >= 0 && at_gate <= 1 ? line[k] * value : 0.0f);
        const unsigned run = norm.run_of(channel + k, p);
        const float at_high = code == w.extremes[run] ? w.shares[run] : 0.0f;
        const float at_low = code == w.extremes[runs + run] ? w.shares[runs + run] : 0.0f;
        d[k] = factor[k] * d[k] * slope + (at_high + at_low);
      }
      float4* to = reinterpret_cast<float4*>(dx + std::size_t{n} * norm.x.size()) + at;
      float4 result = make_float4(d[0], d[1], d[2], d[3]);
      if (add) {
        const float4 there = *to;
        result = make_float4(there.x + d[0], there.y + d[1], there.z + d[2], there.w + d[3]);
      }
      *to = result;
    }
  }
}

/// dr = dy, for the residual; or added to what is there.
__global__ void pass_gradient(const float4* dy, float4* dr, unsigned add, unsigned count) {
  backend::cuda::begin_launch();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float4 d = dy[i];
  if (add) {
    const float4 there = dr[i];
    d = make_float4(there.x + d.x, there.y + d.y, there.z + d.z, there.w + d.w);
  }
  dr[i] = d;
}

class RangeNormStep final : public Step {
 public:
  RangeNormStep(const RangeEvoNorm& norm, const Site& site)
      : site_(site),
        state_(norm, site),
        norm_(state_.norm()),
        blocks_(std::min<unsigned>(norm_.x.samples, 4 * site.processors)) {}

  void forward(LaunchRecorder& recorder, const Call& call) override {
    const Tensor* residual = site_.residual;
    recorder.launch(norm_forward, blocks_, kThreads, norm_.groups * (8 * kRuns + 4), norm_,
                    site_.x->codes, site_.x->scales, residual ? residual->codes : nullptr,
                    residual ? residual->scales : nullptr, call.parameters, site_.y->codes,
                    site_.y->scales);
  }

  void backward(LaunchRecorder& recorder, const Call& call) override {
    Tensor &x = *site_.x, &y = *site_.y;
    if (Tensor* residual = site_.residual; residual && residual->wants_gradient()) {
      const auto count = static_cast<unsigned>(y.size() / 4);
      recorder.launch(pass_gradient, (count + 255) / 256, 256, 0,
                      reinterpret_cast<const float4*>(y.gradient),
                      reinterpret_cast<float4*>(residual->gradient), residual->adds(), count);
    }
    const bool wanted = x.wants_gradient();
    recorder.launch(norm_backward, blocks_, kThreads, Workspace::bytes(norm_.x, norm_.groups),
                    norm_, x.codes, x.scales, call.parameters, y.gradient, state_.parts(),
                    wanted ? x.gradient : nullptr, wanted && x.adds());
  }

 private:
  Site site_;
  NormState state_;
  Norm norm_;
  unsigned blocks_;
};

}  // namespace

Norm sizes_of(const RangeEvoNorm& norm, const Site& site) {
  const model::Shape& shape = site.x->shape;
  const std::size_t members = shape.channels / norm.groups;
  const std::size_t run = members * shape.pixels() / kRuns;
  return {.x = Extent(*site.x),
          .channels = static_cast<unsigned>(shape.channels),
          .members = static_cast<unsigned>(members),
          .groups = static_cast<unsigned>(norm.groups),
          .run = static_cast<unsigned>(run),
          .batch = static_cast<unsigned>(site.x->batch),
          .unused = 0,
          .kappa = static_cast<float>(0.175 * (1 + std::sqrt(std::numbers::pi * std::log(4.0))) /
                                      std::sqrt(2 * std::log(static_cast<double>(run)))),
          .epsilon = static_cast<float>(RangeEvoNorm::kEpsilon),
          .weight = site.places.parameter[0],
          .bias = site.places.parameter[1],
          .v = site.places.parameter[2],
          .extremes = nullptr,
          .spread = nullptr};
}

NormState::NormState(const RangeEvoNorm& norm, const Site& site)
    : norm_(sizes_of(norm, site)),
      extremes_(std::size_t{norm_.x.samples} * 2 * norm_.runs()),
      spread_(std::size_t{norm_.x.samples} * norm_.groups),
      parts_(site.training ? std::size_t{norm_.x.samples} * 3 * norm_.x.channels : 0) {
  norm_.extremes = extremes_.data();
  norm_.spread = spread_.data();
  if (!site.training) return;
  for (std::size_t k = 0; k < 3; ++k) {
    site.sums->add({.at = site.places.parameter[k],
                    .count = norm_.channels,
                    .stride = 3 * norm_.x.channels,
                    .parts = parts_.data() + k * norm_.x.channels,
                    .sums = norm_.batch});
  }
}

std::unique_ptr<Step> make_range_evo_norm(const RangeEvoNorm& norm, const Site& site) {
  return std::make_unique<RangeNormStep>(norm, site);
}

}  // namespace hearsay::engine::cuda::int8
