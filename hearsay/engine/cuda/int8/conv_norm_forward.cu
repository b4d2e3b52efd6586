#include <climits>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/int8/conv_norm.cuh"

namespace hearsay::engine::cuda::int8 {

namespace {

/// The norm of a code: weight S s q t + bias.
struct Normed {
  __device__ Normed(const Norm& norm, const float* model, const float* spread, unsigned c, float s)
      : line(Gate(norm, model, c, s).line),
        factor(c < norm.channels ? model[norm.weight + c] * spread[c / norm.members] * s : 0.0f),
        bias(c < norm.channels ? model[norm.bias + c] : 0.0f) {}
  __device__ float of(float q) const { return factor * q * __saturatef(line * q + 0.5f) + bias; }
  float line, factor, bias;
};

/// q = Q8(conv(x, w)), y = Q8(norm(q) (+ residual)). A block per sample (fewer blocks take several,
/// one after the other), 512 threads: the image on a canvas in shared memory, the product's sums in
/// slots there, which become nearest_bits of q while the extremes of the runs are found, then y in
/// floats while its range is found. 102 KiB with 16 channels of 32 x 32, so two blocks to a
/// multiprocessor. Bound by instructions, about 40 per entry of y.
template <class Known>
__global__ void __launch_bounds__(kThreads, 2)
    conv_norm_forward(const std::int8_t* x, const float* x_scales, Factor weights,
                      const float* const* parameters, Sizes s, const std::int8_t* residual,
                      const float* residual_scales, Codes between, Codes y) {
  backend::cuda::begin_launch();
  Known::tell(s);
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

}  // namespace

ForwardKernel forward_kernel(const Sizes& sizes) {
  return kernel_of(sizes,
                   [](auto known) -> ForwardKernel { return conv_norm_forward<decltype(known)>; });
}

}  // namespace hearsay::engine::cuda::int8
