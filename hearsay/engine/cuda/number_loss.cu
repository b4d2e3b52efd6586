#include "hearsay/backend/cuda/block_sum.cuh"
#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/number_loss.h"

#include <algorithm>

#include "hearsay/engine/cuda/numbers.h"

namespace hearsay::engine::cuda {

namespace {

using backend::cuda::block_sum;
using backend::cuda::LaunchRecorder;

constexpr unsigned kWarp = 32, kMostThreads = 1024;

/// Kernel arguments are compared byte by byte.
static_assert(sizeof(Loss) == sizeof(Loss::Kind) + sizeof(float));

template <class T>
__device__ double error_of(T output, float target) {
  return static_cast<double>(to_float(output)) - static_cast<double>(target);
}

/// *losses[peer] = mean over the peer's entries (samples x outputs) of the error terms of e =
/// output - target, and gradient = derivative / entries. Grid: one block per peer, a thread per
/// entry up to 1024; thread t takes entries t, t + threads, ... ascending. Shared memory: 256 bytes
/// of block_sum, which fixes the order of the sum. Terms and sums in double. Two loads, one store
/// and a few flops per entry, and as few blocks as peers: bound by launch latency; not measured.
template <class T>
__global__ void __launch_bounds__(kMostThreads)
    number_loss_kernel(const T* outputs, unsigned entries, const float* targets, Loss loss,
                       double* const* losses, T* gradient) {
  backend::cuda::begin_launch();
  double* to = losses[blockIdx.x];
  const std::size_t first = std::size_t{blockIdx.x} * entries;
  double sum = 0;
  for (unsigned k = threadIdx.x; k < entries; k += blockDim.x) {
    const ErrorTerm term = error_term(loss.kind, static_cast<double>(loss.delta),
                                      error_of(outputs[first + k], targets[first + k]));
    sum += term.value;
    gradient[first + k] = from_float<T>(static_cast<float>(term.derivative / entries));
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) *to = sum / entries;
}

/// totals[peer] = (sum of losses, sums of e^2 of output 0, 1, ...) += those of the first
/// judged->count samples; cleared before if these are the first. Grid: one block per peer, 256
/// threads over the samples, outputs one after the other; sums by block_sum (256 bytes of shared
/// memory) in double. Neighbouring threads read `width` entries apart, from L1 after the first
/// output. The totals go to the host's result buffer with every batch. Bound by launch latency; not
/// measured.
template <class T>
__global__ void judge_numbers_kernel(const T* outputs, unsigned batch, unsigned width,
                                     const float* targets, Loss loss, const Judged* judged,
                                     double* totals, double* const* results) {
  backend::cuda::begin_launch();
  const std::size_t place = std::size_t{blockIdx.x} * (1 + width);
  const std::size_t first = std::size_t{blockIdx.x} * batch * width;
  const unsigned count = judged->count;
  const auto add = [&](unsigned at, double sum) {
    const double total = (judged->first != 0 ? 0 : totals[place + at]) + sum;
    totals[place + at] = total;
    (*results)[place + at] = total;
  };
  double losses = 0;
  for (unsigned k = 0; k < width; ++k) {
    double squares = 0;
    for (unsigned b = threadIdx.x; b < count; b += blockDim.x) {
      const std::size_t entry = first + std::size_t{b} * width + k;
      const double e = error_of(outputs[entry], targets[entry]);
      squares += e * e;
      losses += error_term(loss.kind, static_cast<double>(loss.delta), e).value;
    }
    squares = block_sum(squares);
    if (threadIdx.x == 0) add(1 + k, squares);
  }
  losses = block_sum(losses);
  if (threadIdx.x == 0) add(0, losses / width);
}

}  // namespace

void number_loss(LaunchRecorder& recorder, Tensor& outputs, const float* targets, const Loss& loss,
                 double* const* losses) {
  const auto entries = static_cast<unsigned>(outputs.per_peer());
  const unsigned threads = std::min(blocks_for(entries, kWarp) * kWarp, kMostThreads);
  outputs.contributions = 1;
  with_storage(outputs.type, [&]<class T>(std::type_identity<T>) {
    recorder.launch(number_loss_kernel<T>, static_cast<unsigned>(outputs.peers), threads, 0,
                    static_cast<const T*>(outputs.data), entries, targets, loss, losses,
                    static_cast<T*>(outputs.gradient));
  });
}

void judge_numbers(LaunchRecorder& recorder, const Tensor& outputs, const float* targets,
                   const Loss& loss, const Judged* judged, double* totals, double* const* results) {
  constexpr unsigned kThreads = 256;
  with_storage(outputs.type, [&]<class T>(std::type_identity<T>) {
    recorder.launch(judge_numbers_kernel<T>, static_cast<unsigned>(outputs.peers), kThreads, 0,
                    static_cast<const T*>(outputs.data), static_cast<unsigned>(outputs.batch),
                    static_cast<unsigned>(outputs.shape.size()), targets, loss, judged, totals,
                    results);
  });
}

}  // namespace hearsay::engine::cuda
