#pragma once

#include <cstddef>
#include <cstdint>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/compress/cuda/kept.cuh"
#include "hearsay/compress/cuda/select.cuh"

/// Top-k of units that fit into a block's shared memory, in one launch for all rows and each class
/// of sizes (top_k.cu).
namespace hearsay::compress::cuda {

/// A unit that fits into a block's shared memory; `number` is its place among all units.
struct SmallUnit {
  DeviceUnit span;
  std::uint32_t number;
};

/// All entries of a unit, in shared memory.
struct SmallEntries {
  const unsigned* bits;
  std::uint32_t first;
  __device__ unsigned operator()(unsigned i) const { return bits[i]; }
  __device__ std::uint32_t place(unsigned i) const { return first + i; }
};

constexpr unsigned kLoads = 12;  // loads that a thread has in flight

/// The `keep` entries of largest magnitude of every unit and row, with their indices ascending, to
/// kept.index and kept.value (rounded to the message's format). Grid (units of a class, rows): one
/// block each, 256, 512 or 1,024 threads for units of up to 2,048, 10,240 or 38,400 entries.
///
/// Shared memory, dynamic: 2,048 counters, then all entries: 16,384, 49,152 or 161,792 bytes. So
/// the unit is read once from device memory, 12 loads in flight per thread, with the first digit
/// counted on the way; two more digits, a tally and the writing read shared memory. Counts are
/// integers, the output is placed by ballots: deterministic. Classes run on side streams beside one
/// another. Bound: one pass over memory, but few large blocks, so latency and shared memory; not
/// measured by itself (top-k and mixing of VGG-11 take 300 us together, docs/performance.md).
__global__ void select_small(const SmallUnit* units, const float* v, std::size_t dim, Kept kept) {
  backend::cuda::begin_launch();
  extern __shared__ unsigned shared[];
  unsigned *bins = shared, *entries = shared + kBins;
  __shared__ unsigned largest;
  const SmallUnit unit = units[blockIdx.x];
  const unsigned size = unit.span.size;
  const float* x = v + blockIdx.y * dim + unit.span.begin;
  for (unsigned k = threadIdx.x; k < kBins; k += blockDim.x) bins[k] = 0;
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  // The only read of device memory: entries to shared memory, counting the first digit.
  unsigned most = 0;
  for (unsigned base = threadIdx.x; base < size; base += kLoads * blockDim.x) {
    unsigned bits[kLoads];
#pragma unroll
    for (unsigned j = 0; j < kLoads; ++j) {
      const unsigned i = base + j * blockDim.x;
      bits[j] = i < size ? __float_as_uint(x[i]) : 0;
    }
#pragma unroll
    for (unsigned j = 0; j < kLoads; ++j) {
      const unsigned i = base + j * blockDim.x, m = bits[j] & kMagnitude;
      if (i >= size) break;
      entries[i] = bits[j];
      most = max(most, m);
      count_digit(m, 0, 0, bins);
    }
  }
  most = __reduce_max_sync(kAllLanes, most);
  if (lane() == 0) atomicMax(&largest, most);
  __syncthreads();
  // Digit by digit to the k-th largest magnitude.
  Search search = narrow({0, unit.span.keep}, 0, bins);
  for (int digit = 1; digit < kDigits; ++digit) {
    for (unsigned k = threadIdx.x; k < kBins; k += blockDim.x) bins[k] = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
      count_digit(entries[i] & kMagnitude, digit, search.prefix, bins);
    }
    __syncthreads();
    search = narrow(search, digit, bins);
  }
  // The selected entries in order: how many come before each warp's, then their places.
  const SmallEntries all{entries, unit.span.begin};
  Tally before;
  tally(all, size, search.prefix, before);
  const std::size_t place = blockIdx.y * kept.keep + unit.span.place;
  write_selected(all, size, search, before, kept.rounding(blockIdx.y, unit.number, largest),
                 kept.index + place, kept.value + place);
}

}  // namespace hearsay::compress::cuda
