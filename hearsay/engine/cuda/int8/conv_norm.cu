#include <algorithm>
#include <climits>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/int8/convolution.cuh"
#include "hearsay/engine/cuda/int8/range_norm.cuh"
#include "hearsay/engine/cuda/int8/weight_gradient.h"

/// A convolution and the norm that follows it in one launch, forward and backward: what is between
/// them, sums and gradients of 4 bytes an entry, stays in shared memory. It does for images of up
/// to 32 x 32 with 16 channels (less with more); where it does not, conv2d.cu and range_norm.cu
/// compute one after the other. All have the same bits.
namespace hearsay::engine::cuda::int8 {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;

/// Where the parts of a block's shared memory begin, in bytes.
struct BlockMemory {
  unsigned offsets = 0;   ///< of the product's units; before it the canvas
  unsigned slots = 0;     ///< 4 bytes per entry of the convolution's output
  unsigned codes = 0;     ///< forward: of the residual; backward: of the convolution's output
  unsigned runs = 0;      ///< forward: largest and smallest code; backward: how many there are
  unsigned shares = 0;    ///< backward: of each in the gradient of the range
  unsigned extremes = 0;  ///< backward: the codes
  unsigned sums = 0;      ///< forward: S of the groups; backward: sums of channels, then of groups
  unsigned bytes = 0;
};

/// What a launch knows. An item is a row of a channel, whose values are all of one run, or every
/// phases-th value of it: with 16 channels two, which is free of bank conflicts, else as many as
/// there are threads for.
struct Sizes {
  ConvSizes conv;
  Norm norm;
  BlockMemory memory;
  unsigned phases;  ///< items per row of a channel
};

/// What a thread visits where the order does not matter.
struct Item {
  __device__ Item(const Sizes& s, unsigned i)
      : channel(i % s.norm.x.channels),
        row(i / s.norm.x.channels / s.phases),
        first((row * s.norm.x.width + i / s.norm.x.channels % s.phases) * s.norm.x.channels +
              channel),
        step(s.phases * s.norm.x.channels),
        count(s.norm.x.width / s.phases) {}
  unsigned channel, row;
  unsigned first, step, count;  ///< places in the image

  __device__ static unsigned all(const Sizes& s) {
    return s.norm.x.height * s.norm.x.channels * s.phases;
  }
};

struct Codes {
  std::int8_t* codes;
  float* scales;
};

/// The norm of a code: weight S s q t + bias.
struct Normed {
  __device__ Normed(const Norm& norm, const float* model, const float* spread, unsigned c, float s)
      : line(Gate(norm, model, c, s).line),
        factor(c < norm.channels ? model[norm.weight + c] * spread[c / norm.members] * s : 0.0f),
        bias(c < norm.channels ? model[norm.bias + c] : 0.0f) {}
  __device__ float of(float q) const { return factor * q * __saturatef(line * q + 0.5f) + bias; }
  float line, factor, bias;
};

__device__ float4 sum_of(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// q = Q8(conv(x, w)), y = Q8(norm(q) (+ residual)). A block per sample (fewer blocks take several,
/// one after the other), 512 threads: the image on a canvas in shared memory, the product's sums in
/// slots there, which become nearest_bits of q while the extremes of the runs are found, then y in
/// floats while its range is found. 102 KiB with 16 channels of 32 x 32, so two blocks to a
/// multiprocessor. Bound by instructions, about 40 per entry of y.
__global__ void __launch_bounds__(kThreads, 2)
    conv_norm_forward(const std::int8_t* x, const float* x_scales, Factor weights,
                      const float* const* parameters, Sizes s, const std::int8_t* residual,
                      const float* residual_scales, Codes between, Codes y) {
  backend::cuda::begin_launch();
  extern __shared__ __align__(16) std::byte shared[];
  __shared__ std::uint32_t shared_max[kWarps];
  const Norm& norm = s.norm;
  const std::uint32_t canvas = shared_address(shared);
  auto* offsets = reinterpret_cast<std::uint32_t*>(shared + s.memory.offsets);
  auto* slots = reinterpret_cast<std::int32_t*>(shared + s.memory.slots);
  auto* others = reinterpret_cast<std::int8_t*>(shared + s.memory.codes);
  auto* high = reinterpret_cast<int*>(shared + s.memory.runs);
  int* low = high + norm.runs();
  auto* spread = reinterpret_cast<float*>(shared + s.memory.sums);
  const unsigned size = norm.x.size(), items = Item::all(s);
  find_units(s.conv.product, offsets);
  for (unsigned n = blockIdx.x; n < norm.x.samples; n += gridDim.x) {
    const unsigned peer = n / norm.batch;
    const float* model = parameters[peer];
    if (residual != nullptr) {
      for (unsigned i = threadIdx.x; i < size / 16; i += kThreads) {
        copy_16_async(shared_address(others) + 16 * i, residual + std::size_t{n} * size + 16 * i);
      }
    }
    fill_canvas(x + std::size_t{n} * s.conv.x.size(), s.conv.x,
                {.first = -static_cast<int>(s.conv.border),
                 .left = -static_cast<int>(s.conv.border),
                 .height = s.conv.product.canvas_height(),
                 .width = s.conv.product.canvas_width,
                 .pixel_bytes = s.conv.product.pixel_bytes,
                 .groups = s.conv.product.groups_in,
                 .first_group = 0},
                canvas);
    for (unsigned i = threadIdx.x; i < norm.runs(); i += kThreads) {
      high[i] = INT_MIN;
      low[i] = INT_MAX;
    }
    wait_for_copies();
    __syncthreads();
    std::uint32_t most = multiply(s.conv.product, canvas, offsets, weights.of(peer), slots);
    const auto m = static_cast<float>(max_of_block(most, shared_max));
    const float unit = x_scales[n] * weights.scale(peer);
    const float factor = factor_of(m, kTop8), scale = scale_of(m, unit, kTop8);
    if (threadIdx.x == 0) between.scales[n] = scale;
    for (unsigned i = threadIdx.x; i < items; i += kThreads) {
      const Item item(s, i);
      std::int32_t* slot = slots + item.first;
      int largest = INT_MIN, smallest = INT_MAX;
#pragma unroll 8
      for (unsigned k = 0; k < item.count; ++k) {
        const auto sum = static_cast<float>(slot[k * item.step]);
        const auto bits = static_cast<std::int32_t>(nearest_bits(sum * factor));
        slot[k * item.step] = bits;  // ordered as q
        largest = max(largest, bits);
        smallest = min(smallest, bits);
      }
      if (item.channel >= norm.channels) continue;
      const unsigned run = norm.run_of(item.channel, item.row * norm.x.width);
      atomicMax(high + run, largest);
      atomicMin(low + run, smallest);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < norm.runs(); i += kThreads) {
      std::int8_t* extremes = norm.extremes + std::size_t{n} * 2 * norm.runs();
      extremes[i] = static_cast<std::int8_t>(high[i]);  // the lowest byte of nearest_bits
      extremes[norm.runs() + i] = static_cast<std::int8_t>(low[i]);
    }
    for (unsigned group = threadIdx.x; group < norm.groups; group += kThreads) {
      spread[group] = norm.spread_of(group, high, low, scale);
      norm.spread[std::size_t{n} * norm.groups + group] = spread[group];
    }
    __syncthreads();
    // A thread has four channels of some pixels.
    const unsigned quads = norm.x.channels / 4, quad = threadIdx.x % quads;
    const unsigned lanes = kThreads / quads, lane = threadIdx.x / quads;
    const unsigned first = lane < lanes ? lane : norm.x.pixels();
    const Normed normed[] = {Normed(norm, model, spread, 4 * quad, scale),
                             Normed(norm, model, spread, 4 * quad + 1, scale),
                             Normed(norm, model, spread, 4 * quad + 2, scale),
                             Normed(norm, model, spread, 4 * quad + 3, scale)};
    const float other_scale = residual == nullptr ? 0.0f : residual_scales[n];
    auto* to_between = reinterpret_cast<std::uint32_t*>(between.codes + std::size_t{n} * size);
    most = 0;
    for (unsigned p = first; p < norm.x.pixels(); p += lanes) {
      const unsigned at = p * quads + quad;
      uint4 four = reinterpret_cast<const uint4*>(slots)[at];
      std::uint32_t* each = &four.x;
      to_between[at] = pack4(four.x, four.y, four.z, four.w);
      const std::uint32_t other =
          residual == nullptr ? 0 : reinterpret_cast<const std::uint32_t*>(others)[at];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        float value = normed[k].of(__uint_as_float(each[k]) - kRoundingShift);
        if (residual != nullptr) {
          value = static_cast<float>(code_of(other, k)) * other_scale + value;
        }
        each[k] = __float_as_uint(value);
        most = max(most, magnitude_bits(value));
      }
      reinterpret_cast<uint4*>(slots)[at] = four;
    }
    const float y_most = __uint_as_float(max_of_block(most, shared_max));
    const float y_factor = factor_of(y_most, kTop8);
    if (threadIdx.x == 0) y.scales[n] = scale_of(y_most, 1, kTop8);
    auto* to_y = reinterpret_cast<std::uint32_t*>(y.codes + std::size_t{n} * size);
    for (unsigned p = first; p < norm.x.pixels(); p += lanes) {
      const unsigned at = p * quads + quad;
      const float4 v = reinterpret_cast<const float4*>(slots)[at];
      to_y[at] = pack4(nearest_bits(v.x * y_factor), nearest_bits(v.y * y_factor),
                       nearest_bits(v.z * y_factor), nearest_bits(v.w * y_factor));
    }
    __syncthreads();
  }
}

/// The gradients that a launch reads and writes.
struct Gradients {
  const float* dy;
  float* residual;      ///< dy, or added to what is there; null: not wanted
  float* parts;         ///< of weight, bias and v: [sample][which][channel]
  std::int16_t* codes;  ///< Q16 of the gradient of the convolution's output
  float* scales;
  float* dx;  ///< null: not wanted
  unsigned add_residual, add;
  unsigned operation, unused;  ///< its random bytes
};

/// From the gradient of y that of x, what the weights' gradient needs (d = Q16 of the gradient
/// between), and a sample's parts of the norm's parameters. A block per sample, 512 threads: dy and
/// the codes between are copied to shared memory; sums along a row are made by a thread in float,
/// over the rows in double, as on the CPU; the gradient between takes dy's place, is rounded to 16
/// bits and, stochastically, to 8 on a canvas, and the product goes straight to dx. 100 KiB with 16
/// channels of 32 x 32: two blocks to a multiprocessor. Bound by instructions, about 60 per entry.
__global__ void __launch_bounds__(kThreads, 2)
    norm_conv_backward(const std::int8_t* between, const float* scales, Factor weights,
                       const float* const* parameters, const StreamKey* keys, Sizes s,
                       Gradients g) {
  backend::cuda::begin_launch();
  extern __shared__ __align__(16) std::byte shared[];
  __shared__ std::uint32_t shared_max[kWarps];
  const Norm& norm = s.norm;
  const BlockMemory& at = s.memory;
  auto* parts = reinterpret_cast<float*>(shared);  // before the canvas is needed
  auto* offsets = reinterpret_cast<std::uint32_t*>(shared + at.offsets);
  auto* slots = reinterpret_cast<float*>(shared + at.slots);
  auto* codes = reinterpret_cast<std::int8_t*>(shared + at.codes);
  auto* counts = reinterpret_cast<int*>(shared + at.runs);
  auto* shares = reinterpret_cast<float*>(shared + at.shares);
  auto* extremes = reinterpret_cast<std::int8_t*>(shared + at.extremes);
  auto* sums = reinterpret_cast<double*>(shared + at.sums);
  const unsigned channels = norm.x.channels, height = norm.x.height, width = norm.x.width;
  double* own = sums + 3 * channels;
  const unsigned size = norm.x.size(), runs = norm.runs(), items = Item::all(s);
  const Product& product = s.conv.product;
  if (g.dx != nullptr) find_units(product, offsets);
  for (unsigned n = blockIdx.x; n < norm.x.samples; n += gridDim.x) {
    const unsigned peer = n / norm.batch;
    const float* model = parameters[peer];
    const float scale = scales[n];
    const float* spread = norm.spread + std::size_t{n} * norm.groups;
    for (unsigned i = threadIdx.x; i < size / 4; i += kThreads) {
      copy_16_async(shared_address(slots) + 16 * i, g.dy + std::size_t{n} * size + 4 * i);
    }
    for (unsigned i = threadIdx.x; i < size / 16; i += kThreads) {
      copy_16_async(shared_address(codes) + 16 * i, between + std::size_t{n} * size + 16 * i);
    }
    commit_copies();
    for (unsigned i = threadIdx.x; i < 2 * runs; i += kThreads) {
      counts[i] = 0;
      extremes[i] = norm.extremes[std::size_t{n} * 2 * runs + i];
    }
    wait_for_copies();
    __syncthreads();
    if (g.residual != nullptr) {
      auto* to = reinterpret_cast<float4*>(g.residual + std::size_t{n} * size);
      for (unsigned i = threadIdx.x; i < size / 4; i += kThreads) {
        const float4 d = reinterpret_cast<const float4*>(slots)[i];
        to[i] = g.add_residual ? sum_of(to[i], d) : d;
      }
    }
    // Sums along the rows: here the order matters.
    for (unsigned i = threadIdx.x; i < height * channels; i += kThreads) {
      const unsigned c = i % channels, row = i / channels;
      if (c >= norm.channels) continue;
      const Gate gate(norm, model, c, scale);
      const unsigned run = norm.run_of(c, row * width);
      const std::int8_t high = extremes[run], low = extremes[runs + run];
      const unsigned first = row * width * channels + c;
      float sum = 0, through = 0, square = 0;
      int highs = 0, lows = 0;
#pragma unroll 8
      for (unsigned column = 0; column < width; ++column) {
        const std::int8_t code = codes[first + column * channels];
        const float e = slots[first + column * channels];
        highs += code == high;
        lows += code == low;
        const auto q = static_cast<float>(code);
        const float line = gate.at(q), t = __saturatef(line);
        sum += e;
        through += e * (q * t);
        square += line == t ? e * q * q : 0.0f;
      }
      if (highs) atomicAdd(counts + run, highs);
      if (lows) atomicAdd(counts + runs + run, lows);
      float* to = parts + row * channels + c;
      to[0] = sum;
      to[height * channels] = through;
      to[2 * height * channels] = square;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 3 * channels; i += kThreads) {
      const unsigned which = i / channels, c = i % channels;
      if (c >= norm.channels) continue;
      const float* from = parts + which * height * channels + c;
      double sum = 0;
#pragma unroll 8
      for (unsigned row = 0; row < height; ++row) {
        sum += static_cast<double>(from[row * channels]);
      }
      sums[i] = sum;
      norm.write_part(g.parts + std::size_t{n} * 3 * channels, which, c, sum, spread, model, scale);
    }
    __syncthreads();
    for (unsigned group = threadIdx.x; group < norm.groups; group += kThreads) {
      own[group] = norm.range_gradient(sums + channels, group, model, scale);
    }
    if (g.dx != nullptr) {
      const unsigned words = product.canvas_bytes() / 16;
      for (unsigned i = threadIdx.x; i < words; i += kThreads) {
        reinterpret_cast<uint4*>(shared)[i] = make_uint4(0, 0, 0, 0);
      }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < runs; i += kThreads) {
      const float d = norm.gradient_of_run(own[i / kRuns], spread[i / kRuns]);
      shares[i] = d / static_cast<float>(counts[i]);
      shares[runs + i] = -d / static_cast<float>(counts[runs + i]);
    }
    __syncthreads();
    std::uint32_t most = 0;
    for (unsigned i = threadIdx.x; i < items; i += kThreads) {
      const Item item(s, i);
      const unsigned c = item.channel;
      if (c >= norm.channels) {
        for (unsigned k = 0; k < item.count; ++k) slots[item.first + k * item.step] = 0;
        continue;
      }
      const float line = Gate(norm, model, c, scale).line;
      const float factor = model[norm.weight + c] * spread[c / norm.members];
      const unsigned run = norm.run_of(c, item.row * width);
      const std::int8_t high = extremes[run], low = extremes[runs + run];
      const float of_high = shares[run], of_low = shares[runs + run];
#pragma unroll 8
      for (unsigned k = 0; k < item.count; ++k) {
        const unsigned place = item.first + k * item.step;
        const std::int8_t code = codes[place];
        const float tilt = line * static_cast<float>(code), bend = tilt + 0.5f;
        const float t = __saturatef(bend);
        const float slope = t + (t == bend ? tilt : 0.0f);
        const float d = factor * slots[place] * slope +
                        ((code == high ? of_high : 0.0f) + (code == low ? of_low : 0.0f));
        slots[place] = d;
        most = max(most, magnitude_bits(d));
      }
    }
    const float m = __uint_as_float(max_of_block(most, shared_max));
    const float factor = factor_of(m, kTop16), d_scale = scale_of(m, 1, kTop16);
    if (threadIdx.x == 0) g.scales[n] = d_scale;
    const unsigned groups = channels / 16, count = size / 16;
    const Random random = keys[peer].stream(Purpose::kQuantize);
    const std::uint64_t block =
        (std::uint64_t{g.operation} << 36) + std::uint64_t{n % norm.batch} * count;
    auto* written = reinterpret_cast<uint4*>(g.codes + std::size_t{n} * size);
    for (unsigned i = threadIdx.x; i < count; i += kThreads) {
      const Sixteen d(reinterpret_cast<const float4*>(slots) + 4 * i, factor);
      written[2 * i] = d.pairs[0];
      written[2 * i + 1] = d.pairs[1];
      if (g.dx == nullptr) continue;
      const unsigned pixel = i / groups, y = pixel / width, x = pixel % width;
      const unsigned to = (y * s.conv.stride + s.conv.border) * product.canvas_width +
                          x * s.conv.stride + s.conv.border;
      *reinterpret_cast<uint4*>(shared + to * product.pixel_bytes + 16 * (i % groups)) =
          d.rounded(random.words(block + i));
    }
    __syncthreads();
    if (g.dx == nullptr) continue;
    const float unit = 256 * d_scale * weights.scale(peer);
    float* dx = g.dx + std::size_t{n} * s.conv.x.size();
    multiply(product, shared_address(shared), offsets, weights.of(peer),
             [&](unsigned pixel, unsigned output, std::int32_t first, std::int32_t second) {
               auto* to = reinterpret_cast<float2*>(dx + pixel * s.conv.x.channels + output);
               float2 d =
                   make_float2(static_cast<float>(first) * unit, static_cast<float>(second) * unit);
               if (g.add) {
                 const float2 there = *to;
                 d = make_float2(there.x + d.x, there.y + d.y);
               }
               *to = d;
             });
    __syncthreads();
  }
}

unsigned rounded(std::size_t bytes) { return static_cast<unsigned>((bytes + 15) / 16 * 16); }

BlockMemory forward_memory(const ConvSizes& conv, const Norm& norm, bool residual) {
  BlockMemory at;
  at.offsets = rounded(conv.product.canvas_bytes());
  at.slots = at.offsets + conv.product.offset_bytes();
  at.codes = at.slots + 4 * norm.x.size();
  at.runs = at.codes + (residual ? norm.x.size() : 0);
  at.sums = at.runs + rounded(8 * norm.groups * kRuns);
  at.bytes = at.sums + rounded(4 * norm.groups);
  return at;
}

BlockMemory backward_memory(const ConvSizes& conv, const Norm& norm, bool wants_dx) {
  BlockMemory at;
  const unsigned parts = 12 * norm.x.height * norm.x.channels;
  at.offsets = rounded(std::max(parts, wants_dx ? conv.product.canvas_bytes() : 0));
  at.slots = at.offsets + (wants_dx ? conv.product.offset_bytes() : 0);
  at.codes = at.slots + 4 * norm.x.size();
  at.sums = at.codes + norm.x.size();
  at.runs = at.sums + rounded(8 * (3 * norm.x.channels + norm.groups));
  at.shares = at.runs + 8 * norm.groups * kRuns;
  at.extremes = at.shares + 8 * norm.groups * kRuns;
  at.bytes = at.extremes + rounded(2 * norm.groups * kRuns);
  return at;
}

unsigned phases_of(const Extent& y) {
  unsigned phases = y.channels == 16 && y.width % 2 == 0 ? 2 : 1;
  while (phases * y.height * y.channels < kThreads && y.width % (2 * phases) == 0) phases *= 2;
  return phases;
}

class ConvNormStep final : public Step {
 public:
  ConvNormStep(const model::Conv2d& conv, const Site& conv_site, const model::RangeEvoNorm& norm,
               const Site& norm_site)
      : conv_(conv_site),
        norm_(norm_site),
        wants_dx_(conv_site.training && conv_site.x->wants_gradient()),
        tensor_(conv_site.weights->add(conv_site.places.parameter[0], conv.out,
                                       conv_site.x->shape.channels, conv.kernel * conv.kernel,
                                       wants_dx_)),
        state_(norm, norm_site),
        forward_{.conv = forward_shape(conv, conv_site),
                 .norm = state_.norm(),
                 .memory = {},
                 .phases = phases_of(state_.norm().x)},
        backward_{.conv = backward_shape(conv, conv_site),
                  .norm = state_.norm(),
                  .memory = {},
                  .phases = phases_of(state_.norm().x)},
        blocks_(std::min<unsigned>(state_.norm().x.samples, 2 * conv_site.processors)) {
    forward_.memory = forward_memory(forward_.conv, forward_.norm, norm_site.residual != nullptr);
    backward_.memory = backward_memory(backward_.conv, backward_.norm, wants_dx_);
    if (!conv_site.training) return;
    codes_ = Memory<std::int16_t>(conv_site.y->size());
    scales_ = Memory<float>(conv_site.y->samples());
    weight_gradient_ = std::make_unique<WeightGradient>(
        conv, conv_site.places.parameter[0], *conv_site.x, *conv_site.y, codes_.data(),
        scales_.data(), conv_site.processors, conv_site.shared_bytes, *conv_site.sums);
  }

  /// Whether a block's memory suffices, rows are parts of runs, and there is a thread per four
  /// channels.
  static bool fits(const model::Conv2d& conv, const Site& conv_site,
                   const model::RangeEvoNorm& norm, const Site& norm_site) {
    const Norm sizes = sizes_of(norm, norm_site);
    const bool wants_dx = conv_site.training && conv_site.x->wants_gradient();
    const unsigned bytes = std::max(
        forward_memory(forward_shape(conv, conv_site), sizes, norm_site.residual != nullptr).bytes,
        backward_memory(backward_shape(conv, conv_site), sizes, wants_dx).bytes);
    return sizes.run % sizes.x.width == 0 && sizes.x.channels <= 4 * kThreads &&
           bytes <= static_cast<unsigned>(conv_site.shared_bytes) - 1024;
  }

  void forward(LaunchRecorder& recorder, const Call& call) override {
    const PackedTensor& packed = conv_.weights->tensor(tensor_);
    const Tensor* residual = norm_.residual;
    recorder.launch(conv_norm_forward, blocks_, kThreads, forward_.memory.bytes, conv_.x->codes,
                    conv_.x->scales,
                    {.words = packed.forward,
                     .words_of_peer = packed.forward_words,
                     .magnitudes = conv_.weights->magnitudes(tensor_)},
                    call.parameters, forward_, residual ? residual->codes : nullptr,
                    residual ? residual->scales : nullptr,
                    {.codes = conv_.y->codes, .scales = conv_.y->scales},
                    {.codes = norm_.y->codes, .scales = norm_.y->scales});
  }

  void backward(LaunchRecorder& recorder, const Call& call) override {
    const PackedTensor& packed = conv_.weights->tensor(tensor_);
    Tensor* residual = norm_.residual;
    const bool wants_residual = residual != nullptr && residual->wants_gradient();
    const bool add_residual = wants_residual && residual->adds();
    recorder.launch(norm_conv_backward, blocks_, kThreads, backward_.memory.bytes, conv_.y->codes,
                    conv_.y->scales,
                    {.words = packed.turned,
                     .words_of_peer = packed.turned_words,
                     .magnitudes = conv_.weights->magnitudes(tensor_)},
                    call.parameters, call.dropout_keys, backward_,
                    {.dy = norm_.y->gradient,
                     .residual = wants_residual ? residual->gradient : nullptr,
                     .parts = state_.parts(),
                     .codes = codes_.data(),
                     .scales = scales_.data(),
                     .dx = wants_dx_ ? conv_.x->gradient : nullptr,
                     .add_residual = add_residual,
                     .add = wants_dx_ && conv_.x->adds(),
                     .operation = static_cast<unsigned>(conv_.index),
                     .unused = 0});
    weight_gradient_->compute(recorder, call);
  }

 private:
  Site conv_, norm_;
  bool wants_dx_;
  std::size_t tensor_;
  NormState state_;
  Sizes forward_, backward_;
  unsigned blocks_;
  Memory<std::int16_t> codes_;  ///< Q16 of the gradient between
  Memory<float> scales_;
  std::unique_ptr<WeightGradient> weight_gradient_;
};

}  // namespace

std::unique_ptr<Step> make_conv_norm(const model::Conv2d& conv, const Site& conv_site,
                                     const model::RangeEvoNorm& norm, const Site& norm_site) {
  if (!ConvNormStep::fits(conv, conv_site, norm, norm_site)) return nullptr;
  return std::make_unique<ConvNormStep>(conv, conv_site, norm, norm_site);
}

}  // namespace hearsay::engine::cuda::int8
