#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/extent.h"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::Tape;

constexpr unsigned kThreads = 256;

// ---- Shortcut ----

template <class T>
__global__ void shortcut_forward(const T* x, Extent in, Extent out, unsigned before, T* y) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= out.size) return;
  const unsigned channel = at % out.channels, pixel = at / out.channels;
  const unsigned column = pixel % out.width, row = pixel / out.width % out.height;
  const unsigned sample = pixel / out.width / out.height;
  const bool old = channel >= before && channel < before + in.channels;
  const unsigned from =
      ((sample * in.height + 2 * row) * in.width + 2 * column) * in.channels + channel - before;
  y[at] = old ? x[from] : from_float<T>(0.0f);
}

template <class T>
__global__ void shortcut_backward(const T* dy, Extent in, Extent out, unsigned before, bool add,
                                  T* dx) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= in.size) return;
  const unsigned channel = at % in.channels, pixel = at / in.channels;
  const unsigned column = pixel % in.width, row = pixel / in.width % in.height;
  const unsigned sample = pixel / in.width / in.height;
  float value = 0;
  if (row % 2 == 0 && column % 2 == 0) {
    const unsigned to_pixel = (sample * out.height + row / 2) * out.width + column / 2;
    value = to_float(dy[to_pixel * out.channels + channel + before]);
  }
  store_gradient(value, add, dx + at);
}

class ShortcutStep final : public Step {
 public:
  explicit ShortcutStep(const Site& site)
      : site_(site), in_(*site.x), out_(*site.y), before_((out_.channels - in_.channels) / 2) {}

  void forward(Tape& tape, const Call&) override {
    with_storage(site_.precision, [&]<class T>(std::type_identity<T>) {
      tape.launch(shortcut_forward<T>, blocks_for(out_.size, kThreads), kThreads, 0,
                  static_cast<const T*>(site_.x->data), in_, out_, before_,
                  static_cast<T*>(site_.y->data));
    });
  }

  void backward(Tape& tape, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    const bool add = site_.x->adds();
    with_storage(site_.precision, [&]<class T>(std::type_identity<T>) {
      tape.launch(shortcut_backward<T>, blocks_for(in_.size, kThreads), kThreads, 0,
                  static_cast<const T*>(site_.y->gradient), in_, out_, before_, add,
                  static_cast<T*>(site_.x->gradient));
    });
  }

 private:
  Site site_;
  Extent in_, out_;
  unsigned before_;  ///< zero channels before the old ones
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
  for (unsigned p = 0; p < pixels; ++p) sum += to_float(from[p * in.channels]);
  y[at] = from_float<T>(sum / static_cast<float>(pixels));
}

template <class T>
__global__ void mean_of_pixels_backward(const T* dy, Extent in, bool add, T* dx) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= in.size) return;
  const unsigned pixels = in.height * in.width, sample = at / (pixels * in.channels);
  const float g = to_float(dy[sample * in.channels + at % in.channels]);
  store_gradient(g / static_cast<float>(pixels), add, dx + at);
}

class GlobalAveragePoolStep final : public Step {
 public:
  explicit GlobalAveragePoolStep(const Site& site)
      : site_(site), in_(*site.x), out_(static_cast<unsigned>(site.y->size())) {}

  void forward(Tape& tape, const Call&) override {
    with_storage(site_.precision, [&]<class T>(std::type_identity<T>) {
      tape.launch(mean_of_pixels<T>, blocks_for(out_, kThreads), kThreads, 0,
                  static_cast<const T*>(site_.x->data), in_, static_cast<T*>(site_.y->data), out_);
    });
  }

  void backward(Tape& tape, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    const bool add = site_.x->adds();
    with_storage(site_.precision, [&]<class T>(std::type_identity<T>) {
      tape.launch(mean_of_pixels_backward<T>, blocks_for(in_.size, kThreads), kThreads, 0,
                  static_cast<const T*>(site_.y->gradient), in_, add,
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
