#include "hearsay/engine/cuda/int8/sums.h"

#include <algorithm>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/numbers.h"

namespace hearsay::engine::cuda::int8 {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;

constexpr unsigned kThreads = 256;

/// gradient = the sum over parts, ascending: of floats as they are, of a chunk's products R J, J
/// being the sum of its slices. Grid (blocks of all jobs, peers), an entry per thread. Bound by
/// reading the parts once.
__global__ void __launch_bounds__(kThreads)
    add_up(const PartialSums* jobs, const unsigned* job_of_block, float* const* gradients) {
  backend::cuda::begin_launch();
  const PartialSums& job = jobs[job_of_block[blockIdx.x]];
  const unsigned entry = (blockIdx.x - job.first_block) * kThreads + threadIdx.x;
  const std::size_t peer = blockIdx.y;
  if (entry >= job.count) return;
  float sum = 0;
  if (job.units == nullptr) {
    const float* part = static_cast<const float*>(job.parts) + peer * job.sums * job.stride + entry;
    for (unsigned n = 0; n < job.sums; ++n) sum += part[std::size_t{n} * job.stride];
  } else {
    const auto* part = static_cast<const long long*>(job.parts) +
                       peer * job.sums * job.slices * job.stride + entry;
    for (unsigned chunk = 0; chunk < job.sums; ++chunk) {
      long long products = 0;
      for (unsigned k = 0; k < job.slices; ++k, part += job.stride) products += *part;
      sum += job.units[peer * job.sums + chunk] * static_cast<float>(products);
    }
  }
  gradients[peer][job.at + entry] = sum;
}

}  // namespace

void SumCollector::add(PartialSums sums) {
  sums.first_block = blocks_;
  blocks_ += blocks_for(sums.count, kThreads);
  jobs_.push_back(sums);
}

void SumCollector::collect(LaunchRecorder& recorder, const Call& call, std::size_t peers) {
  recorder.join_all();
  if (jobs_.empty()) return;
  if (on_device_.size() == 0) {
    std::vector<unsigned> job_of_block(blocks_);
    for (unsigned k = 0; k < jobs_.size(); ++k) {
      std::fill(job_of_block.begin() + jobs_[k].first_block, job_of_block.end(), k);
    }
    on_device_ = Memory<PartialSums>(std::span<const PartialSums>(jobs_));
    job_of_block_ = Memory<unsigned>(std::span<const unsigned>(job_of_block));
  }
  recorder.launch(add_up, dim3(blocks_, static_cast<unsigned>(peers)), kThreads, 0,
                  on_device_.data(), job_of_block_.data(), call.gradient);
}

}  // namespace hearsay::engine::cuda::int8
