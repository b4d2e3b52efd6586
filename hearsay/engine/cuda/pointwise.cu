#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::LaunchRecorder;

constexpr unsigned kThreads = 256;

struct ReluMap {
  __device__ static float value(float x) { return x > 0 ? x : (x != x ? x : 0.0f); }
  __device__ static float derivative(float x) { return x > 0 ? 1.0f : 0.0f; }
};

/// x Phi(x) and its derivative Phi(x) + x phi(x).
struct GeluMap {
  static constexpr float kRootHalf = 0.70710678118654752f;
  static constexpr float kInverseRootTwoPi = 0.39894228040143268f;
  __device__ static float value(float x) { return x * 0.5f * erfcf(-x * kRootHalf); }
  __device__ static float derivative(float x) {
    return 0.5f * erfcf(-x * kRootHalf) + x * kInverseRootTwoPi * expf(-0.5f * x * x);
  }
};

/// y = f(x), flat over all entries of all peers. Grid: ceil(size / (256 W)), 256 threads, W entries
/// (16 bytes, or one where the size does not divide) per thread. No shared memory. Bound by memory
/// bandwidth: one read, one write per entry; not measured.
template <class Map, class T, int W>
__global__ void map_forward(const T* x, T* y, std::size_t size) {
  backend::cuda::begin_launch();
  const std::size_t at = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) * W;
  if (at >= size) return;
  float v[W];
  load(x + at, v);
#pragma unroll
  for (int k = 0; k < W; ++k) v[k] = Map::value(v[k]);
  store(v, y + at);
}

/// dx = f'(x) dy, or that added to dx where another reader of x has written its gradient before.
/// Grid and threads as map_forward, W entries of x and dy in registers; no shared memory. Bound by
/// memory bandwidth: two reads (three if added), one write per entry; not measured.
template <class Map, class T, int W>
__global__ void map_backward(const T* x, const T* dy, T* dx, bool add, std::size_t size) {
  backend::cuda::begin_launch();
  const std::size_t at = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) * W;
  if (at >= size) return;
  float v[W], g[W];
  load(x + at, v);
  load(dy + at, g);
#pragma unroll
  for (int k = 0; k < W; ++k) g[k] *= Map::derivative(v[k]);
  store_gradient(g, add, dx + at);
}

/// y_i = f(x_i).
template <class Map>
class MapStep final : public Step {
 public:
  explicit MapStep(const Site& site) : site_(site) {}

  void forward(LaunchRecorder& recorder, const Call&) override {
    with_width(site_.x->type, site_.x->size(),
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 recorder.launch(map_forward<Map, T, W>, blocks_for(size() / W, kThreads), kThreads,
                                 0, static_cast<const T*>(site_.x->data),
                                 static_cast<T*>(site_.y->data), size());
               });
  }

  void backward(LaunchRecorder& recorder, const Call&) override {
    if (!site_.x->wants_gradient()) return;
    const bool add = site_.x->adds();
    with_width(site_.x->type, site_.x->size(),
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 recorder.launch(map_backward<Map, T, W>, blocks_for(size() / W, kThreads),
                                 kThreads, 0, static_cast<const T*>(site_.x->data),
                                 static_cast<const T*>(site_.y->gradient),
                                 static_cast<T*>(site_.x->gradient), add, size());
               });
  }

 private:
  std::size_t size() const { return site_.x->size(); }
  Site site_;
};

/// y = a + b, or relu of that: a residual connection that is not fused into a norm. Grid and
/// threads as map_forward, W entries of both in registers; no shared memory. Bound by memory
/// bandwidth: two reads, one write per entry; not measured.
template <class T, int W>
__global__ void add_forward(const T* a, const T* b, bool relu, T* y, std::size_t size) {
  backend::cuda::begin_launch();
  const std::size_t at = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) * W;
  if (at >= size) return;
  float u[W], v[W];
  load(a + at, u);
  load(b + at, v);
#pragma unroll
  for (int k = 0; k < W; ++k) {
    u[k] += v[k];
    if (relu) u[k] = ReluMap::value(u[k]);
  }
  store(u, y + at);
}

/// da = db = dy, 0 where relu's output y is not positive (y is null where no relu follows), or
/// added to what is there. `da` and `db` may be one array: then it gets both terms. Grid and
/// threads as map_forward; bound by memory bandwidth; not measured.
template <class T, int W>
__global__ void add_backward(const T* dy, const T* y, T* da, bool add_a, T* db, bool add_b,
                             std::size_t size) {
  backend::cuda::begin_launch();
  const std::size_t at = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) * W;
  if (at >= size) return;
  float g[W], v[W];
  load(dy + at, g);
  if (y != nullptr) {
    load(y + at, v);
#pragma unroll
    for (int k = 0; k < W; ++k) g[k] = v[k] > 0 ? g[k] : 0.0f;
  }
  if (da != nullptr) store_gradient(g, add_a, da + at);
  if (db != nullptr) store_gradient(g, add_b, db + at);
}

class AddStep final : public Step {
 public:
  explicit AddStep(const Site& site) : site_(site) {}

  void forward(LaunchRecorder& recorder, const Call&) override {
    with_width(site_.x->type, size(),
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 recorder.launch(add_forward<T, W>, blocks_for(size() / W, kThreads), kThreads, 0,
                                 static_cast<const T*>(site_.x->data),
                                 static_cast<const T*>(site_.residual->data), site_.relu,
                                 static_cast<T*>(site_.y->data), size());
               });
  }

  void backward(LaunchRecorder& recorder, const Call&) override {
    Tensor& a = *site_.x;
    Tensor& b = *site_.residual;
    if (!a.wants_gradient() && !b.wants_gradient()) return;
    const bool add_a = a.wants_gradient() && a.adds(), add_b = b.wants_gradient() && b.adds();
    with_width(site_.x->type, size(),
               [&]<class T, int W>(std::type_identity<T>, std::integral_constant<int, W>) {
                 recorder.launch(add_backward<T, W>, blocks_for(size() / W, kThreads), kThreads, 0,
                                 static_cast<const T*>(site_.y->gradient),
                                 site_.relu ? static_cast<const T*>(site_.y->data) : nullptr,
                                 static_cast<T*>(a.gradient), add_a, static_cast<T*>(b.gradient),
                                 add_b, size());
               });
  }

 private:
  std::size_t size() const { return site_.y->size(); }
  Site site_;
};

}  // namespace

std::unique_ptr<Step> make_relu(const Site& site) {
  return std::make_unique<MapStep<ReluMap>>(site);
}
std::unique_ptr<Step> make_gelu(const Site& site) {
  return std::make_unique<MapStep<GeluMap>>(site);
}
std::unique_ptr<Step> make_add(const Site& site) { return std::make_unique<AddStep>(site); }

}  // namespace hearsay::engine::cuda
