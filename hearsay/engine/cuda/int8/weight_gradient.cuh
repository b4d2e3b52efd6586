#pragma once

#include "hearsay/engine/cuda/int8/canvas.cuh"
#include "hearsay/engine/cuda/int8/weight_gradient.h"

/// What the kernels of weight gradients share: pixels of a chunk of samples in shared memory, as
/// the terms of products of bytes.
namespace hearsay::engine::cuda::int8 {

using Work = WeightGradient::Work;

constexpr unsigned kChunk = 8;  ///< samples whose products have one unit (engine/quantize.h)
constexpr unsigned kTaps = 3;   ///< of one warp at a time
constexpr unsigned kTile = 16 * 16;

/// As in conv_norm.cuh: kernels for any sizes, and for the convolutions of ResNets for CIFAR, whose
/// images are in shared memory whole.
struct AnyWork {
  __host__ __device__ static void tell(Work&) {}
};
template <unsigned Channels, unsigned Side>
struct KnownWork {
  __host__ __device__ static void tell(Work& w) {
    for (Extent* image : {&w.x, &w.y}) {
      image->height = image->width = Side;
      image->channels = Channels;
    }
    w.kernel = 3;
    w.stride = w.padding = w.tap_groups = 1;
    w.taps = w.block_taps = 9;
    w.tiles_in = Channels / 16;
    w.rows = Side;
    w.canvas_height = w.canvas_width = Side + 2;
  }
};

/// of(Known()) of the first that knows this work.
template <class Known, class... Others, class Of>
auto work_kernel(const Work& work, const Of& of) {
  Work told = work;
  Known::tell(told);
  if constexpr (sizeof...(Others) > 0) {
    if (told != work) return work_kernel<Others...>(work, of);
  }
  return of(Known());
}

/// Bytes between the canvas pixels of Groups x 16 channels.
constexpr unsigned canvas_pixel_bytes(unsigned groups) { return pixel_bytes_of(16 * groups); }

/// Pixels in shared memory.
struct Pixels {
  std::int8_t *canvas, *high, *low;  ///< x; the halves of the gradient, 16 bytes per pixel
  std::uint32_t* offsets;            ///< of a pixel's canvas pixel

  __device__ Pixels(const Work& w, std::byte* memory, unsigned groups)
      : canvas(reinterpret_cast<std::int8_t*>(memory)),
        high(canvas + canvas_bytes(w, groups)),
        low(high + w.pixels * 16),
        offsets(reinterpret_cast<std::uint32_t*>(low + w.pixels * 16)) {}
  __host__ __device__ static unsigned canvas_bytes(const Work& w, unsigned groups) {
    return w.samples * w.canvas_height * w.canvas_width * canvas_pixel_bytes(groups);
  }
  /// A multiple of 16: pixels are one of 32.
  __host__ __device__ static unsigned bytes(const Work& w, unsigned groups) {
    return canvas_bytes(w, groups) + w.pixels * 36;
  }
};

/// The unit of a chunk, and the shares of its samples in it.
struct Shares {
  __device__ Shares(const Work& w, unsigned first, unsigned count) {
    float r[kChunk];
    most = 0;
    for (unsigned n = 0; n < kChunk; ++n) {
      r[n] = n < count ? w.scales[first + n] * w.gradient_scales[first + n] : 0.0f;
      if (!(r[n] <= most)) most = r[n];
      if (most != most) break;
    }
    for (unsigned n = 0; n < kChunk; ++n) of[n] = most != most ? 0 : share_of(r[n], most);
  }
  float most;
  std::int32_t of[kChunk];
};

/// Four pixels of the even or odd channels of two matrices of ldmatrix.trans, whose words have two
/// channels of two pixels.
__device__ inline std::uint32_t even(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x6420);
}
__device__ inline std::uint32_t odd(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x7531);
}

/// 32 pixels of 16 channels at `at` (a lane's own), as a factor whose rows are channels.
__device__ inline void load_rows(std::uint32_t (&a)[4], std::uint32_t at) {
  std::uint32_t r[4];
  load_matrices_transposed(r, at);
  a[0] = even(r[0], r[1]), a[1] = odd(r[0], r[1]);
  a[2] = even(r[2], r[3]), a[3] = odd(r[2], r[3]);
}

/// c[tap][half][input tile] += the products of 32 pixels: rows are outputs, of the gradient's two
/// halves; columns are 16 inputs at each of kTaps taps. The terms, pixels, come in another order
/// than in memory, the same in both factors. Entry e of lane (g, t) is of output 2 g + e / 2 and
/// input 4 t + 2 (e % 2) + tile.
__device__ inline void multiply_step(std::int32_t (&c)[kTaps][2][2][4], std::uint32_t high,
                                     std::uint32_t low, const std::uint32_t (&tap_at)[kTaps],
                                     std::uint32_t pixel) {
  std::uint32_t a[2][4], r[4];
  load_rows(a[0], high);
  load_rows(a[1], low);
#pragma unroll
  for (unsigned k = 0; k < kTaps; ++k) {
    load_matrices_transposed(r, tap_at[k] + pixel);
    const std::uint32_t b[2][2] = {{even(r[0], r[1]), even(r[2], r[3])},
                                   {odd(r[0], r[1]), odd(r[2], r[3])}};
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
#pragma unroll
      for (unsigned tile = 0; tile < 2; ++tile) {
        multiply_bytes(c[k][half][tile], a[half], b[tile][0], b[tile][1]);
      }
    }
  }
}

/// Puts pixels of the samples `first` .. first + count, rows `row` .. of y, into shared memory: of
/// 16 outputs from 16 group_out on, of Groups x 16 inputs from 16 group_in on.
template <unsigned Threads, unsigned Groups>
__device__ void load_pixels(const Work& w, const Pixels& s, unsigned first, unsigned count,
                            unsigned row, const Shares& shares, unsigned first_of_chunk,
                            unsigned group_out, unsigned group_in) {
  constexpr unsigned kPixelBytes = canvas_pixel_bytes(Groups);
  const unsigned rows = min(w.rows, w.y.height - row), each = rows * w.y.width;
  const unsigned canvas_pixels = w.canvas_height * w.canvas_width;
  for (unsigned k = 0; k < count; ++k) {
    fill_canvas(w.codes + std::size_t{first + k} * w.x.size(), w.x,
                {.first = static_cast<int>(row * w.stride) - static_cast<int>(w.padding),
                 .left = -static_cast<int>(w.padding),
                 .height = w.canvas_height,
                 .width = w.canvas_width,
                 .pixel_bytes = kPixelBytes,
                 .groups = Groups,
                 .first_group = group_in},
                shared_address(s.canvas) + k * canvas_pixels * kPixelBytes);
  }
  for (unsigned i = threadIdx.x; i < 2 * w.pixels; i += Threads) {  // 8 channels of a pixel
    const unsigned pixel = i / 2, half = i % 2, k = pixel / each, at = pixel % each;
    uint2 upper = make_uint2(0, 0), lower = upper;
    if (half == 0) {
      const unsigned y = at / w.y.width, x = at % w.y.width;
      s.offsets[pixel] =
          k >= count
              ? 0
              : (k * canvas_pixels + y * w.stride * w.canvas_width + x * w.stride) * kPixelBytes;
    }
    if (k < count) {
      const std::size_t from =
          ((std::size_t{first + k} * w.y.pixels() + row * w.y.width + at) * w.y.channels +
           16 * group_out + 8 * half);
      const uint4 raw = *reinterpret_cast<const uint4*>(w.gradient + from);
      const std::uint32_t* pairs = &raw.x;
      const std::int32_t share = shares.of[first + k - first_of_chunk];
      int h[8], l[8];
#pragma unroll
      for (unsigned e = 0; e < 8; ++e) {
        const auto code = static_cast<std::int16_t>(pairs[e / 2] >> (16 * (e % 2)));
        const std::int16_t d = shared(code, share);
        h[e] = high_half(d);
        l[e] = low_half(d);
      }
      upper = make_uint2(pack4(h[0], h[1], h[2], h[3]), pack4(h[4], h[5], h[6], h[7]));
      lower = make_uint2(pack4(l[0], l[1], l[2], l[3]), pack4(l[4], l[5], l[6], l[7]));
    }
    reinterpret_cast<uint2*>(s.high)[i] = upper;
    reinterpret_cast<uint2*>(s.low)[i] = lower;
  }
}

/// A kernel with tiles of 16 outputs x 64 inputs x 9 taps, for convolutions of 3 x 3.
struct WideKernel {
  static constexpr unsigned kGroups = 4, kThreads = 384;
  static bool fits(const Work& work);       ///< whether it can do it at all
  static unsigned bytes(const Work& work);  ///< of shared memory
  static WeightGradient::Kernel of(const Work& work);
};

}  // namespace hearsay::engine::cuda::int8
