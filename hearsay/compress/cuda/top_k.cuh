#pragma once

#include <cstddef>
#include <cstdint>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/compress/cuda/select.cuh"

/// The launches of a top-k over the units of all rows.
namespace hearsay::compress::cuda {

/// Where the kept entries go: `keep` a row, and for q8 one scale a unit and row.
struct Kept {
  std::uint32_t* index;
  float* value;
  float* scales;
  std::size_t keep;
  std::uint32_t units;
  ValueFormat format;

  __device__ Rounding rounding(unsigned row, unsigned unit, unsigned largest) const {
    const Rounding result{format, q8_scale(largest)};
    if (format == ValueFormat::kQ8 && threadIdx.x == 0)
      scales[row * std::size_t{units} + unit] = result.scale;
    return result;
  }
};

/// A unit that fits into a block's shared memory; `number` is its place among all units.
struct SmallUnit {
  DeviceUnit span;
  std::uint32_t number;
};

/// One block a unit (blockIdx.x) and row (blockIdx.y), all of it in shared memory: kBins counters,
/// then the entries.
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
  unsigned most = 0;
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    const unsigned bits = __float_as_uint(x[i]), m = bits & kMagnitude;
    entries[i] = bits;
    most = max(most, m);
    count_digit(m, 0, 0, bins);
  }
  most = __reduce_max_sync(kAllLanes, most);
  if (lane() == 0) atomicMax(&largest, most);
  __syncthreads();
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
  const auto bits = [&](unsigned i) { return entries[i]; };
  Tally before;
  tally(bits, size, search.prefix, before);
  const std::size_t place = blockIdx.y * kept.keep + unit.span.place;
  write_selected(bits, size, search, before, kept.rounding(blockIdx.y, unit.number, largest),
                 unit.span.begin, kept.index + place, kept.value + place);
}

/// A unit that is cut into pieces, one block each: the pieces first .. first + count - 1.
struct LargeUnit {
  DeviceUnit span;
  std::uint32_t number, first, count;
};

constexpr unsigned kPiece = 8192;  // entries

/// What the launches over pieces share. Arrays of one entry a (row, unit), one a (row, piece).
/// `bins`, `tickets` and `largest` are zero before the first digit and after the last.
struct LargeSearch {
  const LargeUnit* units;
  const std::uint32_t* unit_of;  ///< [piece]
  Search* search;
  unsigned* largest;
  unsigned* found_largest;
  unsigned* bins;  ///< kBins each
  unsigned* tickets;
  Tally* tallies;  ///< [row][piece]
  std::uint32_t unit_count, piece_count;
};

/// The piece of blockIdx.x in row blockIdx.y.
struct Piece {
  LargeUnit unit;
  std::size_t job;       ///< of (row, unit)
  unsigned begin, size;  ///< within the unit
  const float* x;

  __device__ Piece(const LargeSearch& all, const float* v, std::size_t dim) {
    const std::uint32_t number = all.unit_of[blockIdx.x];
    unit = all.units[number];
    job = blockIdx.y * std::size_t{all.unit_count} + number;
    begin = (blockIdx.x - unit.first) * kPiece;
    size = min(kPiece, unit.span.size - begin);
    x = v + blockIdx.y * dim + unit.span.begin + begin;
  }
  __device__ unsigned operator()(unsigned i) const { return __float_as_uint(x[i]); }
};

/// One digit of all searches. The block that comes last to a (row, unit) settles it.
__global__ void search_large(LargeSearch all, const float* v, std::size_t dim, int digit) {
  backend::cuda::begin_launch();
  __shared__ unsigned bins[kBins];
  const Piece piece(all, v, dim);
  const Search known = digit == 0 ? Search{0, piece.unit.span.keep} : all.search[piece.job];
  for (unsigned k = threadIdx.x; k < kBins; k += blockDim.x) bins[k] = 0;
  __syncthreads();
  unsigned most = 0;
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < piece.size; i += blockDim.x) {
    const unsigned m = piece(i) & kMagnitude;
    most = max(most, m);
    count_digit(m, digit, known.prefix, bins);
  }
  most = __reduce_max_sync(kAllLanes, most);
  if (digit == 0 && lane() == 0) atomicMax(all.largest + piece.job, most);
  __syncthreads();
  unsigned* sums = all.bins + piece.job * kBins;
  for (unsigned k = threadIdx.x; k < kBins; k += blockDim.x) {
    if (bins[k] > 0) atomicAdd(sums + k, bins[k]);
  }
  if (!comes_last(all.tickets + piece.job, piece.unit.count)) return;
  for (unsigned k = threadIdx.x; k < kBins; k += blockDim.x) {
    bins[k] = __ldcg(sums + k);
    sums[k] = 0;
  }
  __syncthreads();
  const Search search = narrow(known, digit, bins);
  if (threadIdx.x > 0) return;
  all.search[piece.job] = search;
  if (digit == 0) all.found_largest[piece.job] = atomicExch(all.largest + piece.job, 0u);
}

__global__ void tally_large(LargeSearch all, const float* v, std::size_t dim) {
  backend::cuda::begin_launch();
  const Piece piece(all, v, dim);
  Tally before;
  const Tally tallied = tally(piece, piece.size, all.search[piece.job].prefix, before);
  if (threadIdx.x == 0) {
    all.tallies[blockIdx.y * std::size_t{all.piece_count} + blockIdx.x] = tallied;
  }
}

__global__ void write_large(LargeSearch all, const float* v, std::size_t dim, Kept kept) {
  backend::cuda::begin_launch();
  const Piece piece(all, v, dim);
  const Search search = all.search[piece.job];
  const Tally* row = all.tallies + blockIdx.y * std::size_t{all.piece_count};
  unsigned above = 0, equal = 0;
  for (unsigned k = piece.unit.first + threadIdx.x; k < blockIdx.x; k += blockDim.x) {
    above += row[k].above;
    equal += row[k].equal;
  }
  above = block_total(above);
  equal = block_total(equal);
  Tally before;
  tally(piece, piece.size, search.prefix, before);
  before.above += above;
  before.equal += equal;
  const Rounding rounding =
      kept.rounding(blockIdx.y, piece.unit.number, all.found_largest[piece.job]);
  const std::size_t place = blockIdx.y * kept.keep + piece.unit.span.place;
  write_selected(piece, piece.size, search, before, rounding, piece.unit.span.begin + piece.begin,
                 kept.index + place, kept.value + place);
}

}  // namespace hearsay::compress::cuda
