#include <numeric>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/extent.h"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::LaunchRecorder;

constexpr unsigned kThreads = 256;

// ---- Shortcut ----

/// y(b, row, col, c) = x(b, 2 row, 2 col, c - before), 0 for new channels: the parameter-free
/// shortcut of ResNets. Grid: ceil(entries of y / (256 W)), 256 threads, W channels of an output
/// pixel per thread, either all old or all new; no shared memory. Bound by memory bandwidth or
/// launch latency; not measured.
template <class T, int W>
__global__ void shortcut_forward(const T* x, Extent in, Extent out, unsigned before, T* y) {
  backend::cuda::begin_launch();
  const unsigned at = (blockIdx.x * kThreads + threadIdx.x) * W;
  if (at >= out.size) return;
  const unsigned channel = at % out.channels, pixel = at / out.channels;
  const unsigned column = pixel % out.width, row = pixel / out.width % out.height;
  const unsigned sample = pixel / out.width / out.height;
  float values[W] = {};
  if (channel >= before && channel < before + in.channels) {
    load(x + ((sample * in.height + 2 * row) * in.width + 2 * column) * in.channels + channel -
             before,
         values);
  }
  store(values, y + at);
}

/// dx(b, row, col, c) = dy(b, row / 2, col / 2, c + before) at even rows and columns, else 0, or
/// that added to dx. Grid: ceil(entries of x / (256 W)), 256 threads, W channels of an input pixel
/// per thread; no shared memory, no sums. Bound by memory bandwidth; not measured.
template <class T, int W>
__global__ void shortcut_backward(const T* dy, Extent in, Extent out, unsigned before, bool add,
                                  T* dx) {
  backend::cuda::begin_launch();
  const unsigned at = (blockIdx.x * kThreads + threadIdx.x) * W;
  if (at >= in.size) return;
  const unsigned channel = at % in.channels, pixel = at / in.channels;
  const unsigned column = pixel % in.width, row = pixel / in.width % in.height;
  const unsigned sample = pixel / in.width / in.height;
  float values[W] = {};
  if (row % 2 == 0 && column % 2 == 0) {
    const unsigned to_pixel = (sample * out.height + row / 2) * out.width + column / 2;
    load(dy + to_pixel * out.channels + channel + before, values);
  }
  store_gradient(values, add, dx + at);
}

class ShortcutStep final : public Step {
 public:
  explicit ShortcutStep(const Site& site)
      : site_(site), in_(*site.x), out_(*site.y), before_((out_.channels - in_.channels) / 2) {}

  void forward(LaunchRecorder& recorder, const Call&) override {
    with_width(site_.x->type, run(),
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 recorder.launch(shortcut_forward<T, W>, blocks_for(out_.size / W, kThreads),
                                 kThreads, 0, static_cast<const T*>(site_.x->data), in_, out_,
                                 before_, static_cast<T*>(site_.y->data));
               });
  }

  void backward(LaunchRecorder& recorder, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    const bool add = site_.x->adds();
    with_width(site_.x->type, run(),
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 recorder.launch(shortcut_backward<T, W>, blocks_for(in_.size / W, kThreads),
                                 kThreads, 0, static_cast<const T*>(site_.y->gradient), in_, out_,
                                 before_, add, static_cast<T*>(site_.x->gradient));
               });
  }

 private:
  /// Old channels, new ones before and new ones after come in multiples of this.
  unsigned run() const { return std::gcd(std::gcd(in_.channels, out_.channels), before_); }

  Site site_;
  Extent in_, out_;
  unsigned before_;  ///< zero channels before the old ones
};

// ---- Flatten: from (row, column, channel) to (channel, row, column) within a sample ----

/// Moves every entry between an image (row, column, channel) and a vector (channel, row, column):
/// forward, or backward (`to_image`, maybe added). Grid: ceil(entries / 256), 256 threads, one
/// entry of the image per thread: its side is contiguous, the vector's is strided by `pixels`,
/// without a tile in shared memory. Not measured.
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

  void forward(LaunchRecorder& recorder, const Call&) override {
    launch(recorder, site_.x->data, false, false, site_.y->data);
  }

  void backward(LaunchRecorder& recorder, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    launch(recorder, site_.y->gradient, true, site_.x->adds(), site_.x->gradient);
  }

 private:
  void launch(LaunchRecorder& recorder, const void* from, bool to_image, bool add, void* to) {
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      recorder.launch(flatten<T>, blocks_for(image_.size, kThreads), kThreads, 0,
                      static_cast<const T*>(from), image_, to_image, add, static_cast<T*>(to));
    });
  }

  Site site_;
  Extent image_;
};

}  // namespace

std::unique_ptr<Step> make_shortcut(const Site& site) {
  return std::make_unique<ShortcutStep>(site);
}
std::unique_ptr<Step> make_flatten(const Site& site) { return std::make_unique<FlattenStep>(site); }

}  // namespace hearsay::engine::cuda
