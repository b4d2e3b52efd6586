#pragma once

#include <cstddef>
#include <cstdint>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/compress/cuda/kept.cuh"
#include "hearsay/compress/cuda/select.cuh"

/// Top-k of units that are cut into pieces of 16,384 entries: grid (pieces of all large units,
/// rows) in all six launches, one block per piece and row.
///
/// Magnitudes change little from one call to the next, so the first launch lists, piece by piece,
/// the entries not below a guess, which is a little less than the k-th largest magnitude of the
/// call before. If these are k or more, which is almost always, the k largest are among them, and
/// the other launches read the listed ones: one per digit of the k-th largest, a tally per piece,
/// the writing. If they are fewer, all entries are read again, once for the highest digit, once to
/// list those whose digit is not below it. The result is the same either way.
///
/// Where the guess holds, every entry is read once (4 bytes, in accesses of 16): the first launch
/// is bound by memory bandwidth, the others, which read about k entries, by launch latency. Not
/// measured one by one; top-k and mixing of VGG-11 take 300 us (docs/performance.md).
namespace hearsay::compress::cuda {

constexpr unsigned kPiece = 16'384;          // entries
constexpr unsigned kListed = kPiece / 4;     // more candidates than that are not listed
constexpr unsigned kUnlisted = 0xffffffffu;  // in the place of their number: all are candidates
constexpr unsigned kPieceThreads = 512;      // of launches that read all entries
constexpr unsigned kListThreads = 256;       // of the others
constexpr unsigned kQuads = kPiece / (4 * kPieceThreads);  // groups of four that a thread reads

/// A unit with its pieces first .. first + count - 1.
struct LargeUnit {
  DeviceUnit span;
  std::uint32_t number, first, count;
};

/// Pieces of a unit, which begin at multiples of 16 bytes, so up to three entries before the unit.
constexpr std::uint32_t pieces_of(std::size_t unit_size) {
  return static_cast<std::uint32_t>((unit_size + 3 + kPiece - 1) / kPiece);
}

/// What the launches share. Arrays of one entry per (row, unit), or one per (row, piece). `bins`,
/// `tickets` and `largest` are zero before and after every launch; `guess` is zero before the
/// first.
struct LargeSearch {
  const LargeUnit* units;
  const std::uint32_t* unit_of;  ///< [piece]
  unsigned* guess;
  unsigned* missed;  ///< fewer than k entries were not below the guess
  Search* search;
  unsigned* largest;
  unsigned* found_largest;
  unsigned* bins;  ///< kBins each
  unsigned* tickets;
  Tally* tallies;        ///< [row][piece]
  unsigned* listed;      ///< [row][piece]: how many candidates, or kUnlisted
  std::uint16_t* lists;  ///< [row][piece][kListed], ascending, counted from where the piece begins
  unsigned* values;      ///< [row][piece][kListed], the bits of those entries
  std::uint32_t unit_count, piece_count;
};

/// The piece of blockIdx.x in row blockIdx.y.
struct Piece {
  LargeUnit unit;
  std::size_t job;      ///< of (row, unit)
  std::size_t number;   ///< of (row, piece)
  const float* x;       ///< where it begins; a multiple of 16 bytes
  std::uint32_t first;  ///< of x[0] in the model; below zero, and wraps, if that is not the unit's
  unsigned low, high;   ///< its entries are x[low] .. x[high - 1]

  /// Pieces are cut at multiples of 16 bytes, so that all but the unit's ends are read as uint4;
  /// the first piece begins up to 3 entries before the unit, and the last may be short or empty.
  __device__ Piece(const LargeSearch& all, const float* v, std::size_t dim) {
    const std::uint32_t of = all.unit_of[blockIdx.x];
    unit = all.units[of];
    job = blockIdx.y * std::size_t{all.unit_count} + of;
    number = blockIdx.y * std::size_t{all.piece_count} + blockIdx.x;
    const float* begin = v + blockIdx.y * dim + unit.span.begin;
    const auto shift =
        static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(begin) / sizeof(float) % 4);
    const std::size_t before = (blockIdx.x - unit.first) * std::size_t{kPiece};
    const std::size_t end = std::size_t{unit.span.size} + shift;
    x = begin - shift + before;
    first = unit.span.begin - shift + static_cast<std::uint32_t>(before);
    low = before == 0 ? shift : 0;
    high = end > before ? static_cast<unsigned>(min(std::size_t{kPiece}, end - before)) : 0;
  }

  /// Where group k of this thread's begins: a warp's groups are neighbours, warp after warp.
  __device__ static unsigned group(unsigned k) {
    return 4 * (kWarp * (warp() * kQuads + k) + lane());
  }
  /// Bit j: entry group(k) + j is the unit's.
  __device__ unsigned present(unsigned k) const {
    if (low == 0 && high == kPiece) return 15;
    unsigned mask = 0;
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      if (group(k) + j >= low && group(k) + j < high) mask |= 1u << j;
    }
    return mask;
  }
  /// The magnitudes of a group; zeros where nothing is.
  __device__ uint4 magnitudes(unsigned k) const {
    const unsigned mask = present(k), at = group(k);
    uint4 bits{0, 0, 0, 0};
    if (mask == 15) {
      bits = *reinterpret_cast<const uint4*>(x + at);
    } else {
      if (mask & 1) bits.x = __float_as_uint(x[at]);
      if (mask & 2) bits.y = __float_as_uint(x[at + 1]);
      if (mask & 4) bits.z = __float_as_uint(x[at + 2]);
      if (mask & 8) bits.w = __float_as_uint(x[at + 3]);
    }
    return {bits.x & kMagnitude, bits.y & kMagnitude, bits.z & kMagnitude, bits.w & kMagnitude};
  }
};

/// The entries of a piece that may be selected; `size` of them, in order.
struct Candidates {
  const float* x;
  const std::uint16_t* list;  ///< null: all entries
  const unsigned* values;
  std::uint32_t first;
  unsigned low, size;

  __device__ Candidates(const LargeSearch& all, const Piece& piece)
      : x(piece.x), first(piece.first), low(piece.low) {
    const unsigned listed = all.listed[piece.number];
    list = listed == kUnlisted ? nullptr : all.lists + piece.number * kListed;
    values = all.values + piece.number * kListed;
    size = listed == kUnlisted ? piece.high - piece.low : listed;
  }
  __device__ unsigned local(unsigned i) const { return list ? list[i] : low + i; }
  __device__ unsigned operator()(unsigned i) const {
    return list ? values[i] : __float_as_uint(x[low + i]);
  }
  __device__ std::uint32_t place(unsigned i) const { return first + local(i); }
};

__device__ inline void clear_bins(unsigned* bins) {
  for (unsigned k = threadIdx.x; k < kBins; k += blockDim.x) bins[k] = 0;
  __syncthreads();
}

/// What the next call begins with, 0.8 to 1.6 % lower. With error feedback an entry grows until it
/// is sent, so that, where 1 % is sent a round, the next percents below the threshold are about as
/// many entries each.
__device__ inline unsigned guess_after(unsigned threshold) {
  constexpr unsigned kMargin = 1u << 17;  // a 64th of what an exponent spans, in bits of a float
  return threshold > kMargin ? threshold - kMargin : 0;
}

/// Add this piece's counts of a digit, in shared memory, to those of its (row, unit). In the block
/// that comes last there, the counts of all are then in `bins`, and the result is true.
__device__ inline bool gather_counts(const LargeSearch& all, const Piece& piece, unsigned* bins) {
  __syncthreads();
  unsigned* sums = all.bins + piece.job * kBins;
  for (unsigned k = threadIdx.x; k < kBins; k += blockDim.x) {
    if (bins[k] > 0) atomicAdd(sums + k, bins[k]);
  }
  if (!comes_last(all.tickets + piece.job, piece.unit.count)) return false;
  for (unsigned k = threadIdx.x; k < kBins; k += blockDim.x) {
    bins[k] = __ldcg(sums + k);
    sums[k] = 0;
  }
  __syncthreads();
  return true;
}

/// Finds a digit from the counts of all pieces of a (row, unit), in the last of their blocks; after
/// the last digit it also sets the next call's guess.
__device__ inline void settle_digit(const LargeSearch& all, const Piece& piece, Search known,
                                    int digit, unsigned* bins) {
  if (!gather_counts(all, piece, bins)) return;
  const Search search = narrow(known, digit, bins);
  if (threadIdx.x > 0) return;
  all.search[piece.job] = search;
  if (digit == kDigits - 1) all.guess[piece.job] = guess_after(search.prefix);
}

/// Reads all entries, lists those not below `least`, counts a digit among them, and returns the
/// largest magnitude that this thread saw. For 512 threads.
///
/// A thread loads its 8 groups of four (32 registers) before anything else. Each warp has 1,024
/// consecutive entries and collects the places of the chosen ones in order, by ballots: 16 x 1,024
/// x 2 = 32,768 bytes of shared memory. Then warps copy their places and bits to the piece's list
/// behind those of the warps before, if all fit (4,096). Bound by the read of the entries where few
/// are chosen; not measured.
__device__ inline unsigned list_and_count(const LargeSearch& all, const Piece& piece,
                                          unsigned least, int digit, unsigned prefix,
                                          unsigned* bins) {
  constexpr unsigned kWarps = kPieceThreads / kWarp;
  __shared__ std::uint16_t collected[kWarps][kPiece / kWarps];
  __shared__ unsigned counts[kWarps];
  uint4 groups[kQuads];
#pragma unroll
  for (unsigned k = 0; k < kQuads; ++k) groups[k] = piece.magnitudes(k);
  clear_bins(bins);
  const unsigned below_lane = (1u << lane()) - 1;
  unsigned count = 0, most = 0;
#pragma unroll
  for (unsigned k = 0; k < kQuads; ++k) {
    const unsigned m[4] = {groups[k].x, groups[k].y, groups[k].z, groups[k].w};
    const unsigned mask = piece.present(k);
    most = max(most, max(max(m[0], m[1]), max(m[2], m[3])));
    unsigned chosen = 0;
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) chosen |= (m[j] >= least ? 1u : 0u) << j;
    chosen &= mask;
    // Places among the warp's chosen: first as if a lane had at most one, then for those with more.
    const unsigned lanes = __ballot_sync(kAllLanes, chosen != 0);
    unsigned at = count + __popc(lanes & below_lane);
    count += __popc(lanes);
    if (__any_sync(kAllLanes, (chosen & (chosen - 1)) != 0)) {  // rarely: more than one of a group
      const unsigned more = max(__popc(chosen), 1) - 1;
#pragma unroll
      for (unsigned bit = 0; bit < 2; ++bit) {
        const unsigned have = __ballot_sync(kAllLanes, more >> bit & 1);
        at += __popc(have & below_lane) << bit;
        count += __popc(have) << bit;
      }
    }
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      if (chosen >> j & 1) {
        collected[warp()][at++] = static_cast<std::uint16_t>(Piece::group(k) + j);
        count_digit(m[j], digit, prefix, bins);
      }
    }
  }
  // Where each warp's entries begin in the piece's list.
  if (lane() == 0) counts[warp()] = count;
  __syncthreads();
  unsigned before = 0, total = 0;
  for (unsigned w = 0; w < kWarps; ++w) {
    if (w == warp()) before = total;
    total += counts[w];
  }
  if (threadIdx.x == 0) all.listed[piece.number] = total <= kListed ? total : kUnlisted;
  if (total <= kListed) {
    const std::size_t to = piece.number * kListed + before;
    for (unsigned i = lane(); i < count; i += kWarp) {
      const std::uint16_t local = collected[warp()][i];
      all.lists[to + i] = local;
      all.values[to + i] = __float_as_uint(piece.x[local]);
    }
  }
  return most;
}

/// Launch 1: lists the entries not below the guess, counts the first digit among them, and finds
/// the largest magnitude (the scale of q8). The last block of a (row, unit), by ticket, adds the
/// counts up: with fewer than `keep` the guess missed, else it finds the digit. 512 threads; shared
/// memory: 8,192 bytes of bins, 32,832 of list_and_count. Sums and maxima are of integers, so no
/// order matters. The only launch that reads all entries while guesses hold: bound by memory
/// bandwidth; not measured.
__global__ void __launch_bounds__(kPieceThreads)
    list_guessed(LargeSearch all, const float* v, std::size_t dim) {
  backend::cuda::begin_launch();
  __shared__ unsigned bins[kBins];
  const Piece piece(all, v, dim);
  const unsigned most =
      __reduce_max_sync(kAllLanes, list_and_count(all, piece, all.guess[piece.job], 0, 0, bins));
  if (lane() == 0) atomicMax(all.largest + piece.job, most);
  if (!gather_counts(all, piece, bins)) return;
  unsigned mine = 0;
  for (unsigned k = threadIdx.x; k < kBins; k += blockDim.x) mine += bins[k];
  const unsigned keep = piece.unit.span.keep;
  const bool missed = block_total(mine) < keep;
  Search search{0, keep};
  if (!missed) search = narrow(search, 0, bins);
  if (threadIdx.x > 0) return;
  all.missed[piece.job] = missed;
  all.search[piece.job] = search;
  all.found_largest[piece.job] = atomicExch(all.largest + piece.job, 0u);
}

/// Launch 2: the first digit among all entries, where the guess missed; else blocks return at once.
/// 512 threads, 8 groups of four per thread in registers, 8,192 bytes of bins. Bound by memory
/// bandwidth after a miss, by launch latency otherwise.
__global__ void __launch_bounds__(kPieceThreads)
    search_first(LargeSearch all, const float* v, std::size_t dim) {
  backend::cuda::begin_launch();
  __shared__ unsigned bins[kBins];
  const Piece piece(all, v, dim);
  if (all.missed[piece.job] == 0) return;
  uint4 groups[kQuads];
#pragma unroll
  for (unsigned k = 0; k < kQuads; ++k) groups[k] = piece.magnitudes(k);
  clear_bins(bins);
#pragma unroll
  for (unsigned k = 0; k < kQuads; ++k) {
    const unsigned m[4] = {groups[k].x, groups[k].y, groups[k].z, groups[k].w};
    const unsigned mask = piece.present(k);
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      if (mask >> j & 1) count_digit(m[j], 0, 0, bins);
    }
  }
  settle_digit(all, piece, all.search[piece.job], 0, bins);
}

/// Counts a digit among the listed entries (all, where the list was too long), grid-stride within
/// the block, their bits being read from the list.
__device__ inline void count_listed(const LargeSearch& all, const Piece& piece, int digit,
                                    unsigned prefix, unsigned* bins) {
  const Candidates candidates(all, piece);
  clear_bins(bins);
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < candidates.size; i += blockDim.x) {
    count_digit(candidates(i) & kMagnitude, digit, prefix, bins);
  }
}

/// Launch 3: the second digit among the listed entries; where the guess missed, all entries are
/// read and listed anew, from the first digit on. 512 threads, shared memory as launch 1. Bound by
/// launch latency while guesses hold; not measured.
__global__ void __launch_bounds__(kPieceThreads)
    search_second(LargeSearch all, const float* v, std::size_t dim) {
  backend::cuda::begin_launch();
  __shared__ unsigned bins[kBins];
  const Piece piece(all, v, dim);
  const Search known = all.search[piece.job];
  if (all.missed[piece.job] != 0) {
    list_and_count(all, piece, known.prefix, 1, known.prefix, bins);
  } else {
    count_listed(all, piece, 1, known.prefix, bins);
  }
  settle_digit(all, piece, known, 1, bins);
}

/// Launch 4: the last digit among the listed entries: search.prefix is then the k-th largest
/// magnitude, search.rank how many of its equals are taken. It also sets the next guess. 256
/// threads, 8,192 bytes of bins. Bound by launch latency; not measured.
__global__ void __launch_bounds__(kListThreads)
    search_last(LargeSearch all, const float* v, std::size_t dim) {
  backend::cuda::begin_launch();
  __shared__ unsigned bins[kBins];
  const Piece piece(all, v, dim);
  const Search known = all.search[piece.job];
  count_listed(all, piece, kDigits - 1, known.prefix, bins);
  settle_digit(all, piece, known, kDigits - 1, bins);
}
static_assert(kDigits == 3);

/// Launch 5: tallies[row][piece] = how many listed entries of the piece are above and equal to the
/// threshold, so that write_large knows where each piece begins. 256 threads, 256 bytes of shared
/// memory (tally). Reads 4 bytes per listed entry; bound by launch latency; not measured.
__global__ void __launch_bounds__(kListThreads)
    tally_large(LargeSearch all, const float* v, std::size_t dim) {
  backend::cuda::begin_launch();
  const Piece piece(all, v, dim);
  const Candidates candidates(all, piece);
  Tally before;
  const Tally tallied = tally(candidates, candidates.size, all.search[piece.job].prefix, before);
  if (threadIdx.x == 0) all.tallies[piece.number] = tallied;
}

/// Launch 6: writes the selected entries of a piece behind those of the pieces before, whose
/// tallies the block adds up itself (one read per piece of the unit), counting its own again per
/// warp. Indices ascend, equals go to the lower index: deterministic. 256 threads, about 400 bytes
/// of shared memory. Bound by launch latency and scattered reads of the lists; not measured.
__global__ void __launch_bounds__(kListThreads)
    write_large(LargeSearch all, const float* v, std::size_t dim, Kept kept) {
  backend::cuda::begin_launch();
  const Piece piece(all, v, dim);
  const Candidates candidates(all, piece);
  const Search search = all.search[piece.job];
  // What the pieces of the unit before this one select.
  const Tally* row = all.tallies + blockIdx.y * std::size_t{all.piece_count};
  unsigned above = 0, equal = 0;
  for (unsigned k = piece.unit.first + threadIdx.x; k < blockIdx.x; k += blockDim.x) {
    above += row[k].above;
    equal += row[k].equal;
  }
  above = block_total(above);
  equal = block_total(equal);
  Tally before;
  tally(candidates, candidates.size, search.prefix, before);
  before.above += above;
  before.equal += equal;
  const Rounding rounding =
      kept.rounding(blockIdx.y, piece.unit.number, all.found_largest[piece.job]);
  const std::size_t place = blockIdx.y * kept.keep + piece.unit.span.place;
  write_selected(candidates, candidates.size, search, before, rounding, kept.index + place,
                 kept.value + place);
}

}  // namespace hearsay::compress::cuda
