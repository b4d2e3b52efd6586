#include <algorithm>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/backend/cuda/memory.h"
#include "hearsay/engine/cuda/extent.h"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::Memory;
using backend::cuda::Tape;

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

/// With `places` the maximum of each window, and which of its pixels that is (the first of equals);
/// without, the mean, over zeros too.
template <class T>
__global__ void pool_forward(const T* x, Extent in, Extent out, Window window,
                             std::uint16_t* places, T* y) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= out.size) return;
  const Place place(at, out);
  float sum = 0, most = 0;
  int best = -1;
  for (unsigned k = 0; k < window.kernel; ++k) {
    const unsigned row = place.row * window.stride + k - window.padding;  // wraps if outside
    if (row >= in.height) continue;
    for (unsigned l = 0; l < window.kernel; ++l) {
      const unsigned column = place.column * window.stride + l - window.padding;
      if (column >= in.width) continue;
      const unsigned pixel = (place.sample * in.height + row) * in.width + column;
      const float value = to_float(x[pixel * in.channels + place.channel]);
      sum += value;
      if (best < 0 || value > most) {
        most = value;
        best = static_cast<int>(k * window.kernel + l);
      }
    }
  }
  if (places != nullptr) {
    places[at] = static_cast<std::uint16_t>(best);
    y[at] = from_float<T>(most);
  } else {
    y[at] = from_float<T>(sum / static_cast<float>(window.kernel * window.kernel));
  }
}

/// Every entry of the input collects from the windows that hold it, in order.
template <class T>
__global__ void pool_backward(const T* dy, const std::uint16_t* places, Extent in, Extent out,
                              Window window, bool add, T* dx) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= in.size) return;
  const Place place(at, in);
  const float share =
      places != nullptr ? 1.0f : 1.0f / static_cast<float>(window.kernel * window.kernel);
  float sum = 0;
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
      if (places != nullptr && places[from] != k * window.kernel + l) continue;
      sum += to_float(dy[from]);
    }
  }
  store_gradient(sum * share, add, dx + at);
}

class PoolStep final : public Step {
 public:
  PoolStep(const Window& window, bool maximum, const Site& site)
      : site_(site), in_(*site.x), out_(*site.y), window_(window) {
    if (maximum) places_ = Memory<std::uint16_t>(out_.size);
  }

  void forward(Tape& tape, const Call&) override {
    with_storage(site_.precision, [&]<class T>(std::type_identity<T>) {
      tape.launch(pool_forward<T>, blocks_for(out_.size, kThreads), kThreads, 0,
                  static_cast<const T*>(site_.x->data), in_, out_, window_, places_.data(),
                  static_cast<T*>(site_.y->data));
    });
  }

  void backward(Tape& tape, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    const bool add = site_.x->adds();
    with_storage(site_.precision, [&]<class T>(std::type_identity<T>) {
      tape.launch(pool_backward<T>, blocks_for(in_.size, kThreads), kThreads, 0,
                  static_cast<const T*>(site_.y->gradient), places_.data(), in_, out_, window_, add,
                  static_cast<T*>(site_.x->gradient));
    });
  }

 private:
  Site site_;
  Extent in_, out_;
  Window window_;
  Memory<std::uint16_t> places_;
};

template <class Pool>
std::unique_ptr<Step> make(const Pool& pool, bool maximum, const Site& site) {
  const Window window{.kernel = static_cast<unsigned>(pool.kernel),
                      .stride = static_cast<unsigned>(pool.stride),
                      .padding = static_cast<unsigned>(pool.padding)};
  return std::make_unique<PoolStep>(window, maximum, site);
}

}  // namespace

std::unique_ptr<Step> make_max_pool(const model::MaxPool& pool, const Site& site) {
  return make(pool, true, site);
}

std::unique_ptr<Step> make_average_pool(const model::AveragePool& pool, const Site& site) {
  return make(pool, false, site);
}

}  // namespace hearsay::engine::cuda
