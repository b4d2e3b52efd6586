#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/cross_entropy.h"

#include <algorithm>

#include "hearsay/engine/cuda/numbers.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::Tape;

// A warp has a sample, its lanes the classes; a block has a peer.
constexpr unsigned kWarp = 32;
constexpr unsigned kMostWarps = 32, kMostThreads = kMostWarps * kWarp;

__device__ double sum_of_warp(double value) {
  for (unsigned step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

/// ln sum_k exp(l_k) = most + ln(sum); all lanes have them, and `own` is of the lane.
struct Softmax {
  template <class T>
  __device__ Softmax(const T* row, unsigned classes) {
    const unsigned lane = threadIdx.x % kWarp;
    most = -INFINITY;
    best = ~0u;
    for (unsigned k = lane; k < classes; k += kWarp) {
      const float logit = to_float(row[k]);
      if (best == ~0u || logit > most) most = logit, best = k;
    }
    for (unsigned step = kWarp / 2; step > 0; step /= 2) {
      const float other = __shfl_xor_sync(~0u, most, step);
      const unsigned place = __shfl_xor_sync(~0u, best, step);
      if (other > most || (other == most && place < best)) most = other, best = place;
    }
    own = lane < classes ? exp(above(row[lane])) : 0.0;
    double part = own;
    for (unsigned k = lane + kWarp; k < classes; k += kWarp) part += exp(above(row[k]));
    sum = sum_of_warp(part);
  }

  template <class T>
  __device__ double above(T logit) const {
    return static_cast<double>(to_float(logit)) - static_cast<double>(most);
  }
  template <class T>
  __device__ double loss(T logit_of_label) const {
    return log(sum) - above(logit_of_label);
  }

  float most;
  unsigned best;  ///< the first class that has it
  double own;     ///< exp(l_k - most) of the class k that is the lane's number
  double sum;
};

/// The sum of the warps' values, in an order that depends on their number alone, for thread 0.
/// `shared` is used by this call only.
__device__ double sum_of_warps(double value, double (&shared)[kMostWarps]) {
  if (threadIdx.x % kWarp == 0) shared[threadIdx.x / kWarp] = value;
  __syncthreads();
  if (threadIdx.x >= kWarp) return 0;
  return sum_of_warp(threadIdx.x < blockDim.x / kWarp ? shared[threadIdx.x] : 0.0);
}
static_assert(kMostWarps <= kWarp);

template <class T>
__global__ void __launch_bounds__(kMostThreads)
    cross_entropy_kernel(const T* logits, unsigned batch, unsigned classes,
                         const std::uint16_t* labels, double* const* losses, T* gradient) {
  backend::cuda::begin_launch();
  __shared__ double shared[kMostWarps];
  double* to = losses[blockIdx.x];
  const unsigned warps = blockDim.x / kWarp, lane = threadIdx.x % kWarp;
  double loss = 0;
  for (unsigned b = threadIdx.x / kWarp; b < batch; b += warps) {
    const std::size_t sample = std::size_t{blockIdx.x} * batch + b;
    const T* row = logits + sample * classes;
    const unsigned label = labels[sample];
    const T logit_of_label = row[label];
    const Softmax softmax(row, classes);
    for (unsigned k = lane; k < classes; k += kWarp) {
      const double e = k == lane ? softmax.own : exp(softmax.above(row[k]));
      gradient[sample * classes + k] =
          from_float<T>(static_cast<float>((e / softmax.sum - (k == label ? 1.0 : 0.0)) / batch));
    }
    loss += softmax.loss(logit_of_label);
  }
  loss = sum_of_warps(loss, shared);
  if (threadIdx.x == 0) *to = loss / batch;
}

template <class T>
__global__ void __launch_bounds__(kMostThreads)
    judge_kernel(const T* logits, unsigned batch, unsigned classes, const std::uint16_t* labels,
                 const Judged* judged, Totals* totals, Totals* const* results) {
  backend::cuda::begin_launch();
  __shared__ double losses[kMostWarps], hits[kMostWarps];
  const unsigned warps = blockDim.x / kWarp;
  double loss = 0, right = 0;
  for (unsigned b = threadIdx.x / kWarp; b < judged->count; b += warps) {
    const std::size_t sample = std::size_t{blockIdx.x} * batch + b;
    const T* row = logits + sample * classes;
    const Softmax softmax(row, classes);
    loss += softmax.loss(row[labels[sample]]);
    right += softmax.best == labels[sample] ? 1 : 0;
  }
  loss = sum_of_warps(loss, losses);
  right = sum_of_warps(right, hits);
  if (threadIdx.x != 0) return;
  Totals total = judged->first != 0 ? Totals{0, 0} : totals[blockIdx.x];
  total.loss += loss;
  total.right += right;
  totals[blockIdx.x] = total;
  (*results)[blockIdx.x] = total;
}

/// What both launches have: a block a peer.
struct Launch {
  explicit Launch(const Tensor& logits)
      : peers(static_cast<unsigned>(logits.peers)),
        batch(static_cast<unsigned>(logits.batch)),
        classes(static_cast<unsigned>(logits.shape.size())),
        threads(std::min(batch, kMostWarps) * kWarp) {}
  unsigned peers, batch, classes, threads;
};

}  // namespace

void cross_entropy(Tape& tape, Tensor& logits, const std::uint16_t* labels, double* const* losses) {
  const Launch of(logits);
  logits.contributions = 1;
  with_storage(logits.type, [&]<class T>(std::type_identity<T>) {
    tape.launch(cross_entropy_kernel<T>, of.peers, of.threads, 0,
                static_cast<const T*>(logits.data), of.batch, of.classes, labels, losses,
                static_cast<T*>(logits.gradient));
  });
}

void judge(Tape& tape, const Tensor& logits, const std::uint16_t* labels, const Judged* judged,
           Totals* totals, Totals* const* results) {
  const Launch of(logits);
  with_storage(logits.type, [&]<class T>(std::type_identity<T>) {
    tape.launch(judge_kernel<T>, of.peers, of.threads, 0, static_cast<const T*>(logits.data),
                of.batch, of.classes, labels, judged, totals, results);
  });
}

}  // namespace hearsay::engine::cuda
