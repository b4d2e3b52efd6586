#pragma once

#include <cstdint>

#include "hearsay/compress/cuda/block.cuh"
#include "hearsay/compress/cuda/round.cuh"

/// What one block does to find the k entries of largest magnitude: radix selection from the highest
/// bits down, then writing them in order. Magnitudes compare as the bits of |x| do, and of equal
/// ones the lower index is taken, as backend/cpu/select.h has it.
///
/// The 31 bits of a magnitude are three digits of 11, 10 and 10 bits. Per digit the entries that
/// share the digits found so far are counted in a histogram of up to 2,048 bins (8,192 bytes of
/// shared memory, integer atomics, so no order matters), and a scan over the bins finds the digit
/// of the k-th largest. The first digit is the exponent and 3 bits of the significand, so entries
/// of a layer fall into few bins: atomics on the same address are what the counting evidently waits
/// for; not measured.
namespace hearsay::compress::cuda {

constexpr unsigned kMagnitude = 0x7fffffffu;
constexpr unsigned kBins = 2048;
constexpr int kDigits = 3;

/// Digit d of a magnitude: `width` bits from bit `shift` on; the first is the highest.
__host__ __device__ constexpr unsigned shift_of(int digit) { return 20 - 10 * digit; }
__host__ __device__ constexpr unsigned width_of(int digit) { return digit == 0 ? 11 : 10; }

/// A unit of the layout, with the place of its first kept entry in a row's list.
struct DeviceUnit {
  std::uint32_t begin, size, keep, place;
};

/// What is known of a unit's k-th largest magnitude: its digits so far, and how many of those
/// that share them are among the k.
struct Search {
  unsigned prefix, rank;
};

/// Count digit `digit` of `magnitude` in `bins` (shared memory) if the digits before are those of
/// `prefix`.
__device__ inline void count_digit(unsigned magnitude, int digit, unsigned prefix, unsigned* bins) {
  const unsigned digits = magnitude >> shift_of(digit), width = width_of(digit);
  if (digits >> width != prefix >> shift_of(digit) >> width) return;
  atomicAdd(bins + (digits & ((1u << width) - 1)), 1u);
}

/// The next digit of the search, given the counts of all its values in shared memory: threads take
/// count / blockDim.x neighbouring bins each, from the highest down, a prefix sum over the block
/// says how many entries lie above, and the one thread whose bins hold rank search.rank finds the
/// digit. The result is in every thread. blockDim.x divides the number of bins.
__device__ inline Search narrow(Search search, int digit, const unsigned* bins) {
  __shared__ Search found;
  const unsigned count = 1u << width_of(digit), each = count / blockDim.x;
  const unsigned top = count - 1 - threadIdx.x * each;  // threads go from the highest value down
  unsigned mine = 0, total;
  for (unsigned k = 0; k < each; ++k) mine += bins[top - k];
  unsigned above = inclusive_sum(mine, total) - mine;
  if (above < search.rank && search.rank <= above + mine) {
    unsigned value = top;
    while (above + bins[value] < search.rank) above += bins[value--];
    found = {search.prefix | value << shift_of(digit), search.rank - above};
  }
  __syncthreads();
  return found;
}

/// Entries above and equal to the threshold.
struct Tally {
  unsigned above, equal;
};

/// The entries that one warp looks at: whole groups of 32, in order, warp after warp.
struct WarpRange {
  unsigned begin, end;
  __device__ explicit WarpRange(unsigned size) {
    const unsigned warps = blockDim.x / kWarp;
    const unsigned each = (size + kWarp * warps - 1) / (kWarp * warps) * kWarp;
    begin = min(size, warp() * each);
    end = min(size, begin + each);
  }
};

/// How many of the entries 0 .. size-1, whose bits are entries(i), are above and equal to the
/// magnitude: of the whole block and, in `before`, of the warps before this one. Warps have
/// contiguous ranges, and count by ballots, 32 entries at a time; 32 x 8 = 256 bytes of shared
/// memory.
template <class Entries>
__device__ Tally tally(const Entries& entries, unsigned size, unsigned magnitude, Tally& before) {
  __shared__ Tally warps[kMostWarps];
  const WarpRange range(size);
  Tally mine{0, 0};
  for (unsigned group = range.begin; group < range.end; group += kWarp) {
    const unsigned i = group + lane();
    const bool valid = i < range.end;
    const unsigned m = valid ? entries(i) & kMagnitude : 0;
    mine.above += __popc(__ballot_sync(kAllLanes, valid && m > magnitude));
    mine.equal += __popc(__ballot_sync(kAllLanes, valid && m == magnitude));
  }
  __syncthreads();
  if (lane() == 0) warps[warp()] = mine;
  __syncthreads();
  Tally all{0, 0};
  before = {0, 0};
  for (unsigned w = 0; w < blockDim.x / kWarp; ++w) {
    if (w == warp()) before = all;
    all.above += warps[w].above;
    all.equal += warps[w].equal;
  }
  return all;
}

/// Write the selected of the entries 0 .. size-1, in order: those above search.prefix, and the
/// first search.rank equal ones. `before` counts what precedes this warp's entries; ballots give
/// each lane its place, so there are no atomics. Entry i is at entries.place(i) of the model.
template <class Entries>
__device__ void write_selected(const Entries& entries, unsigned size, Search search, Tally before,
                               Rounding rounding, std::uint32_t* index, float* value) {
  const WarpRange range(size);
  const unsigned below_lane = (1u << lane()) - 1;
  for (unsigned group = range.begin; group < range.end; group += kWarp) {
    const unsigned i = group + lane();
    const bool valid = i < range.end;
    const unsigned x = valid ? entries(i) : 0, m = x & kMagnitude;
    const bool above = valid && m > search.prefix, equal = valid && m == search.prefix;
    const unsigned aboves = __ballot_sync(kAllLanes, above);
    const unsigned equals = __ballot_sync(kAllLanes, equal);
    const unsigned rank = before.equal + __popc(equals & below_lane);
    if (above || (equal && rank < search.rank)) {
      const unsigned at = before.above + __popc(aboves & below_lane) + min(rank, search.rank);
      index[at] = entries.place(i);
      value[at] = rounding(x);
    }
    before.above += __popc(aboves);
    before.equal += __popc(equals);
  }
}

}  // namespace hearsay::compress::cuda
