#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/int8/weight_gradient.cuh"

namespace hearsay::engine::cuda::int8 {

namespace {

constexpr unsigned kGroups = WideKernel::kGroups, kThreads = WideKernel::kThreads;
constexpr unsigned kInputs = 16 * kGroups, kKernel = 3, kKernelTaps = kKernel * kKernel;
static_assert(kThreads / kWarp == kGroups * kKernelTaps / kTaps, "a job for every warp");

/// The largest number of terms of a sum of 32 bits: each is at most 2^14.
constexpr unsigned kMostPixels = 1u << 16;

/// As weight_gradient, with a tile of 16 outputs x 64 inputs x 9 taps: grid (tiles, splits, peers),
/// 384 threads. Each of 12 warps has 3 taps of 16 inputs for all pixels of a chunk, so that sums
/// stay in registers until they are floats (48 for a chunk, 24 for all), and the gradient of 16
/// outputs is read for four times as many inputs. They leave through shared memory in the order of
/// the weights. With images of 2 x 2, where a chunk is one step, bound by instructions: the sums of
/// each chunk become floats; else by loading pixels.
template <class Known>
__global__ void __launch_bounds__(kThreads) wide_weight_gradient(Work w, float* const* gradients) {
  backend::cuda::begin_launch();
  Known::tell(w);
  extern __shared__ __align__(16) std::byte shared[];
  const Pixels s(w, shared, kGroups);
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, g = lane / 4, t = lane % 4;
  const unsigned blocks_in = w.tiles_in / kGroups, peer = blockIdx.z;
  const unsigned group_out = blockIdx.x / blocks_in, group_in = blockIdx.x % blocks_in * kGroups;
  const unsigned chunks = (w.batch + kChunk - 1) / kChunk, slices = max(1u, w.slices);
  const unsigned first_chunk = w.slices == 0 ? 0 : blockIdx.y / slices;
  const unsigned last_chunk = w.slices == 0 ? chunks : first_chunk + 1;
  const unsigned slice = w.slices == 0 ? 0 : blockIdx.y % slices;
  const unsigned first_tap = warp % kTaps * kTaps, own_group = warp / kTaps;
  std::uint32_t tap_at[kTaps];
#pragma unroll
  for (unsigned k = 0; k < kTaps; ++k) {
    const unsigned row = (first_tap + k) / kKernel, column = (first_tap + k) % kKernel;
    tap_at[k] = shared_address(s.canvas) + 16 * own_group +
                (row * w.canvas_width + column) * canvas_pixel_bytes(kGroups);
  }
  const std::uint32_t high = shared_address(s.high) + 16 * lane;
  const std::uint32_t low = shared_address(s.low) + 16 * lane;
  std::int32_t c[kTaps][2][2][4];
  float total[kTaps][2][4] = {};
  for (unsigned chunk = first_chunk; chunk < last_chunk; ++chunk) {
    const unsigned first_of_chunk = peer * w.batch + chunk * kChunk;
    const unsigned size = min(kChunk, w.batch - chunk * kChunk);
    const Shares shares(w, first_of_chunk, size);
    const unsigned begin = size * slice / slices, end = size * (slice + 1) / slices;
#pragma unroll
    for (unsigned k = 0; k < kTaps * 16; ++k) (&c[0][0][0][0])[k] = 0;
    for (unsigned n = begin; n < end; n += w.samples) {
      for (unsigned row = 0; row < w.y.height; row += w.rows) {
        load_pixels<kThreads, kGroups>(w, s, first_of_chunk + n, min(w.samples, end - n), row,
                                       shares, first_of_chunk, group_out, group_in);
        wait_for_copies();
        __syncthreads();
        for (unsigned step = 0; step < w.pixels / 32; ++step) {
          multiply_step(c, high + step * 512, low + step * 512, tap_at,
                        s.offsets[step * 32 + lane]);
        }
        __syncthreads();
      }
    }
    if (w.slices == 0) {
#pragma unroll
      for (unsigned k = 0; k < kTaps * 8; ++k) {
        const unsigned tap = k / 8, tile = k / 4 % 2, e = k % 4;
        const long long sum = 256ll * c[tap][0][tile][e] + c[tap][1][tile][e];
        total[tap][tile][e] += shares.most * static_cast<float>(sum);
      }
    } else if (threadIdx.x == 0 && blockIdx.x == 0 && slice == 0) {
      w.units[peer * chunks + chunk] = shares.most;
    }
  }
  auto* floats = reinterpret_cast<float*>(shared);
  auto* sums = reinterpret_cast<long long*>(shared);
#pragma unroll
  for (unsigned k = 0; k < kTaps * 8; ++k) {
    const unsigned tap = k / 8, tile = k / 4 % 2, e = k % 4;
    const unsigned output = 2 * g + e / 2, input = 16 * own_group + 4 * t + 2 * (e % 2) + tile;
    const unsigned to = (output * kInputs + input) * kKernelTaps + first_tap + tap;
    if (w.slices == 0) {
      floats[to] = total[tap][tile][e];
    } else {
      sums[to] = 256ll * c[tap][0][tile][e] + c[tap][1][tile][e];
    }
  }
  __syncthreads();
  constexpr unsigned kRun = kInputs * kKernelTaps;
  for (unsigned i = threadIdx.x; i < 16 * kRun; i += kThreads) {
    const unsigned o = 16 * group_out + i / kRun, input = 16 * group_in + i % kRun / kKernelTaps;
    if (o >= w.out || input >= w.in) continue;
    const std::size_t to = (std::size_t{o} * w.in + 16 * group_in) * kKernelTaps + i % kRun;
    if (w.slices == 0) {
      gradients[peer][w.at + to] = floats[i];
    } else {
      w.parts[(std::size_t{peer} * gridDim.y + blockIdx.y) *
                  (std::size_t{w.out} * w.in * kKernelTaps) +
              to] = sums[i];
    }
  }
}

}  // namespace

bool WideKernel::fits(const Work& work) {
  return work.kernel == kKernel && work.tiles_in % kGroups == 0 &&
         kChunk * work.y.pixels() <= kMostPixels;
}

unsigned WideKernel::bytes(const Work& work) {
  const unsigned sums = 16 * kInputs * kKernelTaps * (work.slices == 0 ? 4 : 8);
  return std::max(Pixels::bytes(work, kGroups), sums);
}

WeightGradient::Kernel WideKernel::of(const Work& work) {
  return work_kernel<KnownWork<64, 8>, AnyWork>(work, [](auto known) -> WeightGradient::Kernel {
    return wide_weight_gradient<decltype(known)>;
  });
}

}  // namespace hearsay::engine::cuda::int8
