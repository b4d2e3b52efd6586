#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/conv/convolve/weight_packer.h"

#include <algorithm>
#include <bit>

#include "hearsay/engine/cuda/conv/conv_tile.cuh"
#include "hearsay/engine/cuda/conv/mma.cuh"
#include "hearsay/engine/cuda/numbers.h"

namespace hearsay::engine::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kTileFloats = 4608;  // 16 outputs of 32 inputs and nine taps

/// Floats from one line of a tile to the next, odd: so a warp reads across lines without bank
/// conflicts.
__host__ __device__ constexpr int line_pitch(int entries) { return entries | 1; }

/// packed[group][chunk][tap][output][input] = w[output][input][tap] of every convolution of the
/// network, rounded to Entry; exchanged (backward): outputs and inputs swapped, taps reversed.
///
/// Grid (blocks of all convolutions: job_of[blockIdx.x] is the convolution, peers), 256 threads, 6
/// blocks per multiprocessor. A block has one chunk of inputs of up to outputs_a_block outputs, at
/// most 4,608 floats unless one output alone has more. It copies them to shared memory as they lie,
/// in contiguous runs (the chunk's inputs of one output or, exchanged, the block's outputs of one
/// input, with all taps), a warp per run, by cp.async of 4 bytes, as runs begin anywhere; all are
/// under way before the first is waited for. Shared memory: a line per run with an odd pitch, at
/// most 18,688 bytes then, sized by the largest job. Then threads write 16 bytes each, tap by tap,
/// zeros in the padding. Divisions by job sizes are multiplications (Divisor).
///
/// No sums. Bound by memory bandwidth where weights are large: VGG-11, both directions, 0.7 GB in
/// 180 us; 12 us for ResNet-20 (4 peers, docs/performance.md).
template <class Math>
__global__ void __launch_bounds__(kThreads, 6)
    pack_weights(const PackedWeights* jobs, const unsigned* job_of,
                 const float* const* parameters) {
  backend::cuda::begin_launch();
  using Entry = typename Math::Entry;
  constexpr int kEntries = kWide<Entry>;
  extern __shared__ float tile[];
  const PackedWeights job = jobs[job_of[blockIdx.x]];
  const bool exchanged = job.exchanged != 0;
  const int peer = static_cast<int>(blockIdx.y), taps = job.taps;
  const int block = static_cast<int>(blockIdx.x) - job.first_block;
  const int parts = (job.outputs_a_group + job.outputs_a_block - 1) / job.outputs_a_block;
  const int tile_of_job = block / parts;  // (group, chunk)
  const int chunk = tile_of_job % job.chunks, group = tile_of_job / job.chunks;
  const int first = block % parts * job.outputs_a_block;  // output, within the group
  const int rows = min(job.outputs_a_block, job.outputs_a_group - first);

  // Which weights the block has: outputs n .. n + outputs - 1, inputs k .. k + inputs - 1, and how
  // they lie among the parameters: `lines` contiguous runs of `run` floats.
  const int n = group * job.outputs_a_group + first, k = chunk * job.inputs_a_chunk;
  const int outputs = min(rows, (exchanged ? job.in : job.out) - n);  // that have weights
  const int inputs = min(job.inputs_a_chunk, (exchanged ? job.out : job.in) - k);
  const int lines = exchanged ? inputs : outputs, run = (exchanged ? outputs : inputs) * taps;
  const int pitch = line_pitch((exchanged ? rows : job.inputs_a_chunk) * taps);
  const float* from =
      parameters[peer] + job.weight_at +
      (exchanged ? static_cast<long>(k) * job.in + n : static_cast<long>(n) * job.in + k) * taps;
  for (int line = static_cast<int>(threadIdx.x) / kWarp; line < lines; line += kThreads / kWarp) {
    const float* weights = from + static_cast<long>(line) * job.in * taps;
    const std::uint32_t to = shared_address(tile + line * pitch);
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x) % kWarp; i < run; i += kWarp) {
      copy_4_async(to + static_cast<std::uint32_t>(i) * 4, weights + i);
    }
  }
  commit_copies();
  wait_for_copies();
  __syncthreads();

  // From [line][run] to [tap][output][input]: a piece is 16 bytes of one (tap, output).
  const long tap_entries = static_cast<long>(job.outputs_a_group) * job.pitch_entries;
  Entry* to = reinterpret_cast<Entry*>(static_cast<char*>(job.packed) + peer * job.peer_bytes) +
              tile_of_job * taps * tap_entries + static_cast<long>(first) * job.pitch_entries;
  const int step = exchanged ? pitch : taps;  // floats from one input to the next
  for (int piece = static_cast<int>(threadIdx.x); piece < taps * job.tap_pieces.d;
       piece += kThreads) {
    const int tap = divide(piece, job.tap_pieces), at = piece - tap * job.tap_pieces.d;
    const int output = divide(at, job.row_pieces);
    const int input = (at - output * job.row_pieces.d) * kEntries;
    if (output >= rows) continue;
    const float* weights =
        tile + input * step + (exchanged ? output * taps + taps - 1 - tap : output * pitch + tap);
    float values[kEntries];
#pragma unroll
    for (int i = 0; i < kEntries; ++i) {
      values[i] = output < outputs && input + i < inputs ? weights[i * step] : 0.0f;
    }
    store(values, to + tap * tap_entries + at * kEntries);
  }
}

}  // namespace

void WeightPacker::prepare() {
  const auto entry = static_cast<int>(size_of(storage_type(precision_)));
  std::vector<unsigned> job_of;
  for (PackedWeights& job : jobs_) {
    const int fitting = std::max(kTileFloats / (job.inputs_a_chunk * job.taps), 1);
    job.outputs_a_block = std::min(static_cast<int>(std::bit_floor(static_cast<unsigned>(fitting))),
                                   job.outputs_a_group);
    job.row_pieces = Divisor(job.pitch_entries * entry / 16);
    job.tap_pieces = Divisor(job.outputs_a_block * job.row_pieces.d);
    job.first_block = static_cast<int>(job_of.size());
    const int parts = (job.outputs_a_group + job.outputs_a_block - 1) / job.outputs_a_block;
    job_of.resize(job_of.size() + static_cast<std::size_t>(job.groups * job.chunks * parts),
                  static_cast<unsigned>(&job - jobs_.data()));
    const int floats = job.exchanged
                           ? job.inputs_a_chunk * line_pitch(job.outputs_a_block * job.taps)
                           : job.outputs_a_block * line_pitch(job.inputs_a_chunk * job.taps);
    shared_bytes_ = std::max(shared_bytes_, sizeof(float) * static_cast<std::size_t>(floats));
  }
  job_of_block_ = backend::cuda::Memory<unsigned>(std::span<const unsigned>(job_of));
  on_device_ = backend::cuda::Memory<PackedWeights>(std::span<const PackedWeights>(jobs_));
}

void WeightPacker::pack(backend::cuda::LaunchRecorder& recorder, const Call& call,
                        std::size_t peers) {
  if (jobs_.empty()) return;
  if (on_device_.size() == 0) prepare();
  const auto kernel = precision_ == backend::Precision::kTf32   ? pack_weights<Tf32>
                      : precision_ == backend::Precision::kFp32 ? pack_weights<Fp32>
                                                                : pack_weights<Bf16>;
  recorder.launch(
      kernel, dim3(static_cast<unsigned>(job_of_block_.size()), static_cast<unsigned>(peers)),
      kThreads, shared_bytes_, on_device_.data(), job_of_block_.data(), call.parameters);
}

}  // namespace hearsay::engine::cuda
