#pragma once

#include <cstddef>
#include <cstdint>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/compress/cuda/block.cuh"

/// Bit strings, least significant bit first, written by many threads: words are zero before, and
/// every bit is set by one of them, so the result does not depend on their order. Two launches: the
/// lengths of pieces of 4,096 codes, then the codes, each piece beginning at the sum of the lengths
/// before it.
namespace hearsay::compress::cuda {

/// Set the bits of `bits` at `position` and behind: at most two atomicOr, none for zeros.
__device__ inline void put_bits(std::uint32_t* words, std::uint64_t position, std::uint32_t bits) {
  const std::uint64_t shifted = std::uint64_t{bits} << position % 32;
  const auto low = static_cast<std::uint32_t>(shifted),
             high = static_cast<std::uint32_t>(shifted >> 32);
  if (low != 0) atomicOr(words + position / 32, low);
  if (high != 0) atomicOr(words + position / 32 + 1, high);
}

/// One code: zeros, then `count` <= 32 bits.
struct BitCode {
  std::uint64_t zeros;
  std::uint32_t bits, count;
  __device__ std::uint64_t length() const { return zeros + count; }
};

constexpr unsigned kCodeThreads = 256;
constexpr unsigned kCodePiece = 4096;  // codes per block

/// lengths[row][piece] = the number of bits of the codes of a piece. A `Codes` has `size` codes per
/// row, and codes(row, i) is the i-th. Grid (ceil(size / 4,096), rows), 256 threads, 16 codes per
/// thread; shared memory 32 x 8 bytes of block_total. Integer sums, so no order matters. Reads what
/// `codes` reads, once; not measured.
template <class Codes>
__global__ void measure_codes(Codes codes, std::uint64_t* lengths) {
  backend::cuda::begin_launch();
  const std::size_t begin = blockIdx.x * std::size_t{kCodePiece};
  const std::size_t end = min(codes.size, begin + kCodePiece);
  std::uint64_t mine = 0;
  for (std::size_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    mine += codes(blockIdx.y, i).length();
  }
  mine = block_total(mine);
  if (threadIdx.x == 0) lengths[blockIdx.y * std::size_t{gridDim.x} + blockIdx.x] = mine;
}

/// Write the codes of row blockIdx.y to the words from words + blockIdx.y * stride on, behind
/// `first_bit` bits. Grid and threads as measure_codes. A block first adds up the lengths of the
/// pieces before its own, then goes over its codes in 16 groups of 256: a prefix sum over the block
/// (inclusive_sum, two barriers, 256 bytes of shared memory) gives each code its position. Zeros
/// that lead a code are only counted. Bound by barriers and atomics on shared words; not measured.
template <class Codes>
__global__ void write_codes(Codes codes, const std::uint64_t* lengths, std::uint32_t* words,
                            std::size_t stride, std::uint64_t first_bit) {
  backend::cuda::begin_launch();
  const std::uint64_t* row = lengths + blockIdx.y * std::size_t{gridDim.x};
  std::uint64_t before = 0;
  for (unsigned k = threadIdx.x; k < blockIdx.x; k += blockDim.x) before += row[k];
  before = first_bit + block_total(before);
  const std::size_t begin = blockIdx.x * std::size_t{kCodePiece};
  const std::size_t end = min(codes.size, begin + kCodePiece);
  for (std::size_t group = begin; group < end; group += blockDim.x) {
    const std::size_t i = group + threadIdx.x;
    const BitCode code = i < end ? codes(blockIdx.y, i) : BitCode{0, 0, 0};
    std::uint64_t total;
    const std::uint64_t position = before + inclusive_sum(code.length(), total) - code.count;
    if (i < end) put_bits(words + blockIdx.y * stride, position, code.bits);
    before += total;
  }
}

}  // namespace hearsay::compress::cuda
