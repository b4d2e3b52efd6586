#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/cross_entropy.h"

#include <algorithm>

#include "hearsay/engine/cuda/numbers.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::LaunchRecorder;

// A block per peer, a warp per sample, lanes over the classes.
constexpr unsigned kWarp = 32;
constexpr unsigned kMostWarps = 32, kMostThreads = kMostWarps * kWarp;

/// The sum over a warp's lanes by a xor tree over 16, 8, 4, 2, 1, the same in all lanes.
__device__ double sum_of_warp(double value) {
  for (unsigned step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

/// Softmax of one row of logits by a warp, in double: ln sum_k exp(l_k) = most + ln(sum). Two
/// passes over the row: maximum (shuffles; the first of equal classes), then exponentials, lane k
/// taking classes k, k + 32, ... ascending, and a xor tree. All lanes have the results; `own` is
/// the lane's first exponential, kept in a register for the gradient.
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

/// The sum of the warps' values, by a xor tree over warps (an order of their number only), in
/// thread 0. `shared` (256 bytes) is used by this call only.
__device__ double sum_of_warps(double value, double (&shared)[kMostWarps]) {
  if (threadIdx.x % kWarp == 0) shared[threadIdx.x / kWarp] = value;
  __syncthreads();
  if (threadIdx.x >= kWarp) return 0;
  return sum_of_warp(threadIdx.x < blockDim.x / kWarp ? shared[threadIdx.x] : 0.0);
}
static_assert(kMostWarps <= kWarp);

/// *losses[peer] = mean over the peer's samples of ln sum_k exp(l_k) - l_label, and gradient(b, k)
/// = (softmax_k - [k = label]) / batch. Grid: one block per peer, min(batch, 32) warps; warp w
/// takes samples w, w + warps, ... ascending. Shared memory: 32 doubles (256 bytes). Exponentials
/// and sums in double; up to 32 classes each exponential is computed once. Losses go to mapped host
/// memory. As few blocks as peers, so bound by latency; one of the 11 launches of ResNet-20 that
/// together take 49 us (docs/performance.md).
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

/// totals[peer] += (sum of losses, number of samples whose largest logit is the label's), over the
/// first judged->count samples; cleared before if these are the first. Grid, block and order of
/// sums as cross_entropy_kernel; shared memory 2 x 256 bytes. The total goes to the host's result
/// buffer with every batch, so that no copy is needed after the last. Not measured.
template <class T>
__global__ void __launch_bounds__(kMostThreads)
    judge_kernel(const T* logits, unsigned batch, unsigned classes, const std::uint16_t* labels,
                 const Judged* judged, ClassTotals* totals, ClassTotals* const* results) {
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
  ClassTotals total = judged->first != 0 ? ClassTotals{0, 0} : totals[blockIdx.x];
  total.loss += loss;
  total.right += right;
  totals[blockIdx.x] = total;
  (*results)[blockIdx.x] = total;
}

/// What both launches have: one block per peer.
struct Launch {
  explicit Launch(const Tensor& logits)
      : peers(static_cast<unsigned>(logits.peers)),
        batch(static_cast<unsigned>(logits.batch)),
        classes(static_cast<unsigned>(logits.shape.size())),
        threads(std::min(batch, kMostWarps) * kWarp) {}
  unsigned peers, batch, classes, threads;
};

}  // namespace

void cross_entropy(LaunchRecorder& recorder, Tensor& logits, const std::uint16_t* labels,
                   double* const* losses) {
  const Launch of(logits);
  logits.contributions = 1;
  with_storage(logits.type, [&]<class T>(std::type_identity<T>) {
    recorder.launch(cross_entropy_kernel<T>, of.peers, of.threads, 0,
                    static_cast<const T*>(logits.data), of.batch, of.classes, labels, losses,
                    static_cast<T*>(logits.gradient));
  });
}

void judge(LaunchRecorder& recorder, const Tensor& logits, const std::uint16_t* labels,
           const Judged* judged, ClassTotals* totals, ClassTotals* const* results) {
  const Launch of(logits);
  with_storage(logits.type, [&]<class T>(std::type_identity<T>) {
    recorder.launch(judge_kernel<T>, of.peers, of.threads, 0, static_cast<const T*>(logits.data),
                    of.batch, of.classes, labels, judged, totals, results);
  });
}

}  // namespace hearsay::engine::cuda
