#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/weight_packer.h"

#include "hearsay/engine/cuda/mma.cuh"
#include "hearsay/engine/cuda/numbers.h"

namespace hearsay::engine::cuda {

namespace {

constexpr int kThreads = 256;

/// One thread an (output, input) of a job, padding included, with all its taps.
template <class Math>
__global__ void __launch_bounds__(kThreads)
    pack_weights(const PackedWeights* jobs, const unsigned* job_of,
                 const float* const* parameters) {
  backend::cuda::begin_launch();
  using Entry = typename Math::Entry;
  const int block = static_cast<int>(blockIdx.x), peer = blockIdx.y;
  const PackedWeights job = jobs[job_of[block]];
  const long at = static_cast<long>(block - job.first_block) * kThreads + threadIdx.x;
  const int place = static_cast<int>(at % job.pitch_entries);
  const long row = at / job.pitch_entries;  // (group, chunk, output)
  const int row_in_group = static_cast<int>(row % job.outputs_a_group);
  const int chunk = static_cast<int>(row / job.outputs_a_group % job.chunks);
  const int group = static_cast<int>(row / job.outputs_a_group / job.chunks);
  if (group >= job.groups) return;
  const int n = group * job.outputs_a_group + row_in_group;
  const int k = chunk * job.inputs_a_chunk + place;
  const int outputs = job.exchanged ? job.in : job.out, inputs = job.exchanged ? job.out : job.in;
  const bool there = n < outputs && place < job.inputs_a_chunk && k < inputs;
  const long first =
      job.exchanged ? static_cast<long>(k) * job.in + n : static_cast<long>(n) * job.in + k;
  const float* from = parameters[peer] + job.weight_at + first * job.taps;
  Entry* to = reinterpret_cast<Entry*>(static_cast<char*>(job.packed) + peer * job.peer_bytes) +
              (static_cast<long>(group * job.chunks + chunk) * job.taps * job.outputs_a_group +
               row_in_group) *
                  job.pitch_entries +
              place;
  for (int tap = 0; tap < job.taps; ++tap) {
    const float value = there ? from[job.exchanged ? job.taps - 1 - tap : tap] : 0.0f;
    to[static_cast<long>(tap) * job.outputs_a_group * job.pitch_entries] = from_float<Entry>(value);
  }
}

}  // namespace

void WeightPacker::pack(backend::cuda::Tape& tape, const Call& call, std::size_t peers) {
  if (jobs_.empty()) return;
  if (on_device_.size() == 0) {
    std::vector<unsigned> job_of;
    for (PackedWeights& job : jobs_) {
      job.first_block = static_cast<int>(job_of.size());
      const long threads =
          static_cast<long>(job.groups) * job.chunks * job.outputs_a_group * job.pitch_entries;
      job_of.resize(job_of.size() + static_cast<std::size_t>((threads + kThreads - 1) / kThreads),
                    static_cast<unsigned>(&job - jobs_.data()));
    }
    job_of_block_ = backend::cuda::Memory<unsigned>(std::span<const unsigned>(job_of));
    on_device_ = backend::cuda::Memory<PackedWeights>(std::span<const PackedWeights>(jobs_));
  }
  const auto kernel = precision_ == backend::Precision::kTf32   ? pack_weights<Tf32>
                      : precision_ == backend::Precision::kFp32 ? pack_weights<Fp32>
                                                                : pack_weights<Bf16>;
  tape.launch(kernel,
              dim3(static_cast<unsigned>(job_of_block_.size()), static_cast<unsigned>(peers)),
              kThreads, 0, on_device_.data(), job_of_block_.data(), call.parameters);
}

}  // namespace hearsay::engine::cuda
