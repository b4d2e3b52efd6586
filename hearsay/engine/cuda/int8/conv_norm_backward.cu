#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/int8/conv_norm.cuh"

namespace hearsay::engine::cuda::int8 {

namespace {

__device__ float4 sum_of(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// From the gradient of y that of x, what the weights' gradient needs (d = Q16 of the gradient
/// between), and a sample's parts of the norm's parameters. A block per sample, 512 threads: dy and
/// the codes between are copied to shared memory; sums along a row are made by a thread in float,
/// over the rows in double, as on the CPU; the gradient between takes dy's place, is rounded to 16
/// bits and, stochastically, to 8 on a canvas, and the product goes straight to dx. 100 KiB with 16
/// channels of 32 x 32: two blocks to a multiprocessor. Bound by instructions, about 60 per entry.
template <class Known>
__global__ void __launch_bounds__(kThreads, 2)
    norm_conv_backward(const std::int8_t* between, const float* scales, Factor weights,
                       const float* const* parameters, const StreamKey* keys, Sizes s,
                       Gradients g) {
  backend::cuda::begin_launch();
  Known::tell(s);
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

}  // namespace

BackwardKernel backward_kernel(const Sizes& sizes) {
  return kernel_of(
      sizes, [](auto known) -> BackwardKernel { return norm_conv_backward<decltype(known)>; });
}

}  // namespace hearsay::engine::cuda::int8
