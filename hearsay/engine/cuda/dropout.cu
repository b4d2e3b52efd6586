#include <cassert>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::LaunchRecorder;

constexpr unsigned kThreads = 256;

struct Rule {
  float rate, keep_scale;
  unsigned operation, channels, pixels, per_peer;
};

/// out = x or, where it is dropped, 0; entry j (channel, row, column) of sample b of a peer is
/// decided by word 2^40 operation + b size + j of the peer's stream. Without keys: a copy.
///
/// Both forward and backward (the mask is recomputed, not stored). Grid (ceil(entries per peer /
/// 256), peers), 256 threads, one entry per thread; no shared memory. Every thread computes a
/// Philox block and uses one of its four words, as neighbouring entries are channels, whose words
/// lie `pixels` apart. Not measured.
template <class T>
__global__ void drop(const T* x, const StreamKey* keys, Rule rule, bool add, T* out) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;  // within the peer: NHWC
  if (at >= rule.per_peer) return;
  const std::size_t place = std::size_t{blockIdx.y} * rule.per_peer + at;
  float value = to_float(x[place]);
  if (keys != nullptr) {
    const unsigned channel = at % rule.channels, pixel = at / rule.channels % rule.pixels;
    const unsigned sample = at / rule.channels / rule.pixels;
    const std::uint64_t index = (std::uint64_t{rule.operation} << 40) +
                                std::uint64_t{sample} * rule.channels * rule.pixels +
                                std::uint64_t{channel} * rule.pixels + pixel;
    const unsigned random = keys[blockIdx.y].stream(Purpose::kDropout).word(index);
    value = to_unit_float(random) < rule.rate ? 0.0f : value * rule.keep_scale;
  }
  store_gradient(value, add, out + place);
}

/// The mask is a function of the call's random stream, so backward recomputes it.
class DropoutStep final : public Step {
 public:
  DropoutStep(double rate, const Site& site)
      : site_(site),
        rule_{.rate = static_cast<float>(rate),
              .keep_scale = static_cast<float>(1 / (1 - rate)),
              .operation = static_cast<unsigned>(site.index),
              .channels = static_cast<unsigned>(site.x->shape.channels),
              .pixels = static_cast<unsigned>(site.x->shape.pixels()),
              .per_peer = static_cast<unsigned>(site.x->per_peer())} {
    assert(site.index < 1024);  // the words of a stream end at 2^50
  }

  void forward(LaunchRecorder& recorder, const Call& call) override {
    launch(recorder, call, site_.x->data, false, site_.y->data);
  }

  void backward(LaunchRecorder& recorder, const Call& call) override {
    if (!site_.x->wants_gradient()) return;
    launch(recorder, call, site_.y->gradient, site_.x->adds(), site_.x->gradient);
  }

 private:
  void launch(LaunchRecorder& recorder, const Call& call, const void* x, bool add, void* out) {
    const dim3 grid(blocks_for(rule_.per_peer, kThreads), static_cast<unsigned>(site_.x->peers));
    with_storage(site_.x->type, [&]<class T>(std::type_identity<T>) {
      recorder.launch(drop<T>, grid, kThreads, 0, static_cast<const T*>(x),
                      call.training ? call.dropout_keys : nullptr, rule_, add,
                      static_cast<T*>(out));
    });
  }

  Site site_;
  Rule rule_;
};

}  // namespace

std::unique_ptr<Step> make_dropout(const model::Dropout& dropout, const Site& site) {
  return std::make_unique<DropoutStep>(dropout.rate, site);
}

}  // namespace hearsay::engine::cuda
