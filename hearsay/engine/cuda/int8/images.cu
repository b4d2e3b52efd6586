#include "hearsay/engine/cuda/int8/images.h"

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/int8/block.cuh"

namespace hearsay::engine::cuda::int8 {

namespace {

/// A block per sample: its range, then its codes by words of four channels. The image is read
/// twice, the second time from a cache.
__global__ void __launch_bounds__(kThreads)
    quantize(const float* images, Extent x, unsigned channels, std::uint32_t* codes,
             float* scales) {
  backend::cuda::begin_launch();
  __shared__ std::uint32_t shared_max[kWarps];
  const unsigned n = blockIdx.x, entries = x.pixels() * channels;
  const float* image = images + std::size_t{n} * entries;
  std::uint32_t most = 0;
  for (unsigned i = threadIdx.x; i < entries; i += kThreads) {
    most = max(most, magnitude_bits(image[i]));
  }
  const float m = __uint_as_float(max_of_block(most, shared_max));
  const float factor = factor_of(m, kTop8);
  if (threadIdx.x == 0) scales[n] = scale_of(m, 1, kTop8);
  for (unsigned i = threadIdx.x; i < x.size() / 4; i += kThreads) {
    const unsigned channel = 4 * i % x.channels, pixel = 4 * i / x.channels;
    int q[4];
    for (unsigned k = 0; k < 4; ++k) {
      q[k] = channel + k < channels ? code8(image[pixel * channels + channel + k], factor) : 0;
    }
    codes[std::size_t{n} * (x.size() / 4) + i] = pack4(q[0], q[1], q[2], q[3]);
  }
}

__global__ void pad(const float* rows, unsigned width, unsigned channels, unsigned entries,
                    float* padded_rows) {
  backend::cuda::begin_launch();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= entries) return;
  const unsigned channel = i % channels;
  padded_rows[i] = channel < width ? rows[std::size_t{i / channels} * width + channel] : 0.0f;
}

}  // namespace

void quantize_images(backend::cuda::LaunchRecorder& recorder, const float* images,
                     const Tensor& codes) {
  recorder.launch(quantize, static_cast<unsigned>(codes.samples()), kThreads, 0, images,
                  Extent(codes), static_cast<unsigned>(codes.shape.channels),
                  reinterpret_cast<std::uint32_t*>(codes.codes), codes.scales);
}

void pad_outputs(backend::cuda::LaunchRecorder& recorder, const float* gradient, const Tensor& y) {
  const auto entries = static_cast<unsigned>(y.size());
  recorder.launch(pad, (entries + 255) / 256, 256, 0, gradient,
                  static_cast<unsigned>(y.shape.channels), static_cast<unsigned>(y.channels()),
                  entries, y.gradient);
}

}  // namespace hearsay::engine::cuda::int8
