#include <numeric>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/extent.h"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::Tape;

constexpr unsigned kThreads = 256;

// ---- Shortcut ----

/// One thread W channels of a pixel of y; W divides all numbers of channels.
template <class T, int W>
__global__ void shortcut_forward(const T* x, Extent in, Extent out, unsigned before, T* y) {
  backend::cuda::begin_launch();
  const unsigned at = (blockIdx.x * kThreads + threadIdx.x) * W;
  if (at >= out.size) return;
  const unsigned channel = at % out.channels, pixel = at / out.channels;
  const unsigned column = pixel % out.width, row = pixel / out.width % out.height;
  const unsigned sample = pixel / out.width / out.height;
  const unsigned from =
      ((sample * in.height + 2 * row) * in.width + 2 * column) * in.channels + channel - before;
  float value[W] = {};
  if (channel >= before && channel < before + in.channels) load(x + from, value);
  store(value, y + at);
}

template <class T, int W>
__global__ void shortcut_backward(const T* dy, Extent in, Extent out, unsigned before, bool add,
                                  T* dx) {
  backend::cuda::begin_launch();
  const unsigned at = (blockIdx.x * kThreads + threadIdx.x) * W;
  if (at >= in.size) return;
  const unsigned channel = at % in.channels, pixel = at / in.channels;
  const unsigned column = pixel % in.width, row = pixel / in.width % in.height;
  const unsigned sample = pixel / in.width / in.height;
  const bool taken = row % 2 == 0 && column % 2 == 0;
  if (add && !taken) return;
  float value[W] = {};
  if (taken) {
    const unsigned to_pixel = (sample * out.height + row / 2) * out.width + column / 2;
    load(dy + to_pixel * out.channels + channel + before, value);
  }
  store_gradient(value, add, dx + at);
}

class ShortcutStep final : public Step {
 public:
  explicit ShortcutStep(const Site& site)
      : site_(site),
        in_(*site.x),
        out_(*site.y),
        before_((out_.channels - in_.channels) / 2),
        run_(std::gcd(std::gcd(in_.channels, out_.channels), before_)) {}

  void forward(Tape& tape, const Call&) override {
    with_width(site_.precision, run_,
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 tape.launch(shortcut_forward<T, W>, blocks_for(out_.size / W, kThreads), kThreads,
                             0, static_cast<const T*>(site_.x->data), in_, out_, before_,
                             static_cast<T*>(site_.y->data));
               });
  }

  void backward(Tape& tape, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    const bool add = site_.x->adds();
    with_width(site_.precision, run_,
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 tape.launch(shortcut_backward<T, W>, blocks_for(in_.size / W, kThreads), kThreads,
                             0, static_cast<const T*>(site_.y->gradient), in_, out_, before_, add,
                             static_cast<T*>(site_.x->gradient));
               });
  }

 private:
  Site site_;
  Extent in_, out_;
  unsigned before_;  ///< zero channels before the old ones
  unsigned run_;     ///< channels that lie together on both sides
};

// ---- Flatten: from (row, column, channel) to (channel, row, column) within a sample ----

/// Thread `at` moves the image's entry `at` from the image to the vector, or back.
template <class T>
__global__ void flatten(const T* from, Extent image, bool to_image, bool add, T* to) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= image.size) return;
  const unsigned pixels = image.height * image.width, per_sample = pixels * image.channels;
  const unsigned within = at % per_sample;
  const unsigned flat = at - within + within % image.channels * pixels + within / image.channels;
  store_gradient(to_float(from[to_image ? flat : at]), add, to + (to_image ? at : flat));
}

class FlattenStep final : public Step {
 public:
  explicit FlattenStep(const Site& site) : site_(site), image_(*site.x) {}

  void forward(Tape& tape, const Call&) override {
    launch(tape, site_.x->data, false, false, site_.y->data);
  }

  void backward(Tape& tape, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    launch(tape, site_.y->gradient, true, site_.x->adds(), site_.x->gradient);
  }

 private:
  void launch(Tape& tape, const void* from, bool to_image, bool add, void* to) {
    with_storage(site_.precision, [&]<class T>(std::type_identity<T>) {
      tape.launch(flatten<T>, blocks_for(image_.size, kThreads), kThreads, 0,
                  static_cast<const T*>(from), image_, to_image, add, static_cast<T*>(to));
    });
  }

  Site site_;
  Extent image_;
};

// ---- Global average pool ----

template <class T>
__global__ void mean_of_pixels(const T* x, Extent in, T* y, unsigned size) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;  // sample, channel
  if (at >= size) return;
  const unsigned pixels = in.height * in.width;
  const T* from = x + std::size_t{at / in.channels} * pixels * in.channels + at % in.channels;
  float sum = 0;
#pragma unroll 16
  for (unsigned p = 0; p < pixels; ++p) sum += to_float(from[p * in.channels]);
  y[at] = from_float<T>(sum / static_cast<float>(pixels));
}

template <class T, int W>
__global__ void mean_of_pixels_backward(const T* dy, Extent in, bool add, T* dx) {
  backend::cuda::begin_launch();
  const unsigned at = (blockIdx.x * kThreads + threadIdx.x) * W;
  if (at >= in.size) return;
  const unsigned pixels = in.height * in.width, sample = at / (pixels * in.channels);
  float g[W];
  load(dy + sample * in.channels + at % in.channels, g);
#pragma unroll
  for (int k = 0; k < W; ++k) g[k] /= static_cast<float>(pixels);
  store_gradient(g, add, dx + at);
}

class GlobalAveragePoolStep final : public Step {
 public:
  explicit GlobalAveragePoolStep(const Site& site)
      : site_(site), in_(*site.x), out_(static_cast<unsigned>(site.y->size())) {}

  void forward(Tape& tape, const Call&) override {
    // One channel a thread: few threads that read much would take longer than many.
    with_storage(site_.precision, [&]<class T>(std::type_identity<T>) {
      tape.launch(mean_of_pixels<T>, blocks_for(out_, kThreads), kThreads, 0,
                  static_cast<const T*>(site_.x->data), in_, static_cast<T*>(site_.y->data), out_);
    });
  }

  void backward(Tape& tape, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    const bool add = site_.x->adds();
    with_width(site_.precision, in_.channels,
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 tape.launch(mean_of_pixels_backward<T, W>, blocks_for(in_.size / W, kThreads),
                             kThreads, 0, static_cast<const T*>(site_.y->gradient), in_, add,
                             static_cast<T*>(site_.x->gradient));
               });
  }

 private:
  Site site_;
  Extent in_;
  unsigned out_;
};

}  // namespace

std::unique_ptr<Step> make_shortcut(const Site& site) {
  return std::make_unique<ShortcutStep>(site);
}
std::unique_ptr<Step> make_flatten(const Site& site) { return std::make_unique<FlattenStep>(site); }
std::unique_ptr<Step> make_global_average_pool(const Site& site) {
  return std::make_unique<GlobalAveragePoolStep>(site);
}

}  // namespace hearsay::engine::cuda
