#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/backend/cuda/memory.h"
#include "hearsay/engine/cuda/extent.h"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;

constexpr unsigned kThreads = 256;

struct Window {
  unsigned kernel, stride, padding;
};

/// Where an entry of a tensor lies.
struct Place {
  __device__ Place(unsigned at, const Extent& extent)
      : channel(at % extent.channels),
        column(at / extent.channels % extent.width),
        row(at / extent.channels / extent.width % extent.height),
        sample(at / extent.channels / extent.width / extent.height) {}
  unsigned channel, column, row, sample;
};

/// Instead of a pixel: the maximum is not > 0, and relu, whose output it is, masks its gradient.
constexpr std::uint16_t kStopped = 0xffff;

/// Which pixel of its window is the maximum, for W neighbouring channels.
template <int W>
struct alignas(W * sizeof(std::uint16_t)) Maxima {
  std::uint16_t of[W];
};

/// y(b, row, col, c) = the maximum over its window, places = which of its pixels that is (the first
/// of equals; kStopped where `relu` masks it). Grid: ceil(entries of y / (256 W)), 256 threads, W
/// channels (16 bytes) of an output pixel per thread; maxima in registers, window row by row; no
/// shared memory. Windows of neighbours overlap in caches only. Bound by memory bandwidth or
/// latency; not measured.
template <class T, int W>
__global__ void pool_forward(const T* x, Extent in, Extent out, Window window, bool relu,
                             std::uint16_t* places, T* y) {
  backend::cuda::begin_launch();
  const unsigned at = (blockIdx.x * kThreads + threadIdx.x) * W;
  if (at >= out.size) return;
  const Place place(at, out);
  float most[W] = {};
  Maxima<W> best{};
  bool first = true;
  for (unsigned k = 0; k < window.kernel; ++k) {
    const unsigned row = place.row * window.stride + k - window.padding;  // wraps if outside
    if (row >= in.height) continue;
    for (unsigned l = 0; l < window.kernel; ++l) {
      const unsigned column = place.column * window.stride + l - window.padding;
      if (column >= in.width) continue;
      const unsigned pixel = (place.sample * in.height + row) * in.width + column;
      float value[W];
      load(x + pixel * in.channels + place.channel, value);
#pragma unroll
      for (int c = 0; c < W; ++c) {
        if (!first && !(value[c] > most[c])) continue;
        most[c] = value[c];
        best.of[c] = static_cast<std::uint16_t>(k * window.kernel + l);
      }
      first = false;
    }
  }
#pragma unroll
  for (int c = 0; c < W; ++c) {
    if (relu && !(most[c] > 0)) best.of[c] = kStopped;
  }
  *reinterpret_cast<Maxima<W>*>(places + at) = best;
  store(most, y + at);
}

/// dx(b, row, col, c) = the sum of dy of the windows that hold it and chose it, over k, l
/// ascending: a gather, so no atomics. Grid: ceil(entries of x / (256 W)), 256 threads, W channels
/// of an input pixel per thread; no shared memory. Not measured.
template <class T, int W>
__global__ void pool_backward(const T* dy, const std::uint16_t* places, Extent in, Extent out,
                              Window window, bool add, T* dx) {
  backend::cuda::begin_launch();
  const unsigned at = (blockIdx.x * kThreads + threadIdx.x) * W;
  if (at >= in.size) return;
  const Place place(at, in);
  float sum[W] = {};
  for (unsigned k = 0; k < window.kernel; ++k) {
    const unsigned down = place.row + window.padding - k;  // stride times the window's row
    if (place.row + window.padding < k || down % window.stride != 0) continue;
    if (down / window.stride >= out.height) continue;
    for (unsigned l = 0; l < window.kernel; ++l) {
      const unsigned right = place.column + window.padding - l;
      if (place.column + window.padding < l || right % window.stride != 0) continue;
      if (right / window.stride >= out.width) continue;
      const unsigned pixel =
          (place.sample * out.height + down / window.stride) * out.width + right / window.stride;
      const unsigned from = pixel * out.channels + place.channel;
      float gradient[W];
      load(dy + from, gradient);
      const Maxima<W> best = *reinterpret_cast<const Maxima<W>*>(places + from);
#pragma unroll
      for (int c = 0; c < W; ++c) {
        if (best.of[c] == k * window.kernel + l) sum[c] += gradient[c];
      }
    }
  }
  store_gradient(sum, add, dx + at);
}

/// The same for windows of 2 x 2 that do not overlap: a thread has W channels of a window, or of
/// what the last row and column of odd sizes leave of one, reads dy and its place once and writes
/// four pixels. Grid (rows of windows of all samples, ceil(columns x channels / (256 W))), 256
/// threads; no shared memory, no sums. Bound by memory bandwidth: dx is written once; not measured.
template <class T, int W>
__global__ void __launch_bounds__(kThreads)
    spread_2x2(const T* dy, const std::uint16_t* places, Extent in, Extent out, bool add, T* dx) {
  backend::cuda::begin_launch();
  const unsigned piece = (blockIdx.y * kThreads + threadIdx.x) * W;
  const unsigned channel = piece % in.channels, column = piece / in.channels;
  if (2 * column >= in.width) return;
  const unsigned rows = (in.height + 1) / 2, row = blockIdx.x % rows, sample = blockIdx.x / rows;
  float gradient[W] = {};
  Maxima<W> best{};
  if (row < out.height && column < out.width) {
    const unsigned pixel = (sample * out.height + row) * out.width + column;
    best = *reinterpret_cast<const Maxima<W>*>(places + pixel * out.channels + channel);
    load(dy + pixel * out.channels + channel, gradient);
  }
  const unsigned first = (sample * in.height + 2 * row) * in.width + 2 * column;
#pragma unroll
  for (unsigned k = 0; k < 2; ++k) {
#pragma unroll
    for (unsigned l = 0; l < 2; ++l) {
      if (2 * row + k >= in.height || 2 * column + l >= in.width) continue;
      float own[W];
#pragma unroll
      for (int c = 0; c < W; ++c) own[c] = best.of[c] == 2 * k + l ? gradient[c] : 0.0f;
      store_gradient(own, add, dx + (first + k * in.width + l) * in.channels + channel);
    }
  }
}

class MaxPoolStep final : public Step {
 public:
  MaxPoolStep(const model::MaxPool& pool, const Site& site)
      : site_(site),
        in_(*site.x),
        out_(*site.y),
        window_{.kernel = static_cast<unsigned>(pool.kernel),
                .stride = static_cast<unsigned>(pool.stride),
                .padding = static_cast<unsigned>(pool.padding)},
        by_2x2_(pool.kernel == 2 && pool.stride == 2 && pool.padding == 0),
        places_(out_.size) {}

  void forward(LaunchRecorder& recorder, const Call&) override {
    with_width(site_.x->type, in_.channels,
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 recorder.launch(pool_forward<T, W>, blocks_for(out_.size / W, kThreads), kThreads,
                                 0, static_cast<const T*>(site_.x->data), in_, out_, window_,
                                 site_.x->wants_mask, places_.data(),
                                 static_cast<T*>(site_.y->data));
               });
  }

  void backward(LaunchRecorder& recorder, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    Tensor& x = *site_.x;
    const bool add = x.adds();
    // `places` mask what is written here, but not what is there.
    x.masked = x.wants_mask && x.is_complete() && !add;
    with_width(site_.x->type, in_.channels,
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 const auto* dy = static_cast<const T*>(site_.y->gradient);
                 auto* dx = static_cast<T*>(site_.x->gradient);
                 if (!by_2x2_) {
                   recorder.launch(pool_backward<T, W>, blocks_for(in_.size / W, kThreads),
                                   kThreads, 0, dy, places_.data(), in_, out_, window_, add, dx);
                   return;
                 }
                 const unsigned rows = (in_.height + 1) / 2, columns = (in_.width + 1) / 2;
                 const unsigned samples = in_.size / (in_.channels * in_.height * in_.width);
                 recorder.launch(
                     spread_2x2<T, W>,
                     dim3(samples * rows, blocks_for(columns * in_.channels / W, kThreads)),
                     kThreads, 0, dy, places_.data(), in_, out_, add, dx);
               });
  }

 private:
  Site site_;
  Extent in_, out_;
  Window window_;
  bool by_2x2_;
  Memory<std::uint16_t> places_;
};

}  // namespace

std::unique_ptr<Step> make_max_pool(const model::MaxPool& pool, const Site& site) {
  return std::make_unique<MaxPoolStep>(pool, site);
}

}  // namespace hearsay::engine::cuda
