#pragma once

#include <algorithm>

#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/tensor.h"

namespace hearsay::engine::cuda {

/// How the pixels and channels of a tensor are divided: block (chunk, slab, peer) has `chunk`
/// pixels and up to `threads` accesses of `width` channels (a slab). Where channels need fewer
/// accesses than there are threads, the block takes several pixels (rows) at once.
struct ChannelGrid {
  /// For a pass that sums over pixels. The chunks of a peer do not depend on how many others there
  /// are, so that its sums do not.
  static ChannelGrid of_sums(const Tensor& tensor, int width, unsigned threads) {
    constexpr unsigned kMostChunks = 128;
    constexpr unsigned kPixelsAThread = 4;  // fewer, and a block adds more than it reads
    ChannelGrid grid(tensor, width, threads);
    const unsigned rows = grid.rows(width, threads);
    grid.chunks = std::min(blocks_for(grid.pixels, rows * kPixelsAThread), kMostChunks);
    grid.chunk = blocks_for(grid.pixels, grid.chunks);
    return grid;
  }

  /// For a pass without sums over pixels, but whose blocks each begin with adding up `parts` pairs
  /// of floats per channel: `at_once` blocks, or more where they still read four times as much of
  /// the tensor as of those. Only the speed depends on the choice.
  static ChannelGrid of_pass(const Tensor& tensor, int width, unsigned threads, unsigned at_once,
                             unsigned long parts) {
    ChannelGrid grid(tensor, width, threads);
    constexpr unsigned long kFew = 64;  // starting a block costs as much as reading so many parts
    const unsigned rows = grid.rows(width, threads);
    const unsigned fill = std::max(at_once / (grid.peers * grid.slabs), 2u) - 1;  // and a keeper
    const auto worthwhile = static_cast<unsigned>(grid.pixels / (8 * std::max(parts, kFew)));
    const unsigned most = blocks_for(grid.pixels, 2 * rows);
    const unsigned chunks = std::min(std::max({fill, worthwhile, 1u}), most);
    grid.chunk = blocks_for(blocks_for(grid.pixels, chunks), rows) * rows;
    grid.chunks = blocks_for(grid.pixels, grid.chunk);
    return grid;
  }

  dim3 blocks() const { return {chunks, slabs, peers}; }
  /// With one more block per slab and peer, which has no pixels and stores what all blocks compute.
  dim3 blocks_and_keeper() const { return {chunks + 1, slabs, peers}; }
  std::size_t partials() const { return std::size_t{peers} * chunks * channels; }
  std::size_t tickets() const { return std::size_t{peers} * slabs; }

  unsigned channels, pixels, peers;  ///< pixels: of one peer's samples
  unsigned slabs = 1, chunks = 1, chunk = 0;

 private:
  ChannelGrid(const Tensor& tensor, int width, unsigned threads)
      : channels(static_cast<unsigned>(tensor.shape.channels)),
        pixels(static_cast<unsigned>(tensor.batch * tensor.shape.pixels())),
        peers(static_cast<unsigned>(tensor.peers)),
        slabs(blocks_for(channels / static_cast<unsigned>(width), threads)) {}

  /// Pixels that a block accesses at once.
  unsigned rows(int width, unsigned threads) const {
    return std::max(threads * static_cast<unsigned>(width) / channels, 1u);
  }
};

/// The part of a thread: channels first .. first + W - 1 of every `rows`-th pixel of the chunk.
template <int W>
struct ChannelPart {
  __device__ explicit ChannelPart(const ChannelGrid& grid)
      : base(blockIdx.y * blockDim.x * W),
        lanes(min((grid.channels - base) / W, blockDim.x)),
        rows(blockDim.x / lanes),
        row(threadIdx.x / lanes),
        first(base + threadIdx.x % lanes * W),
        begin(blockIdx.x * grid.chunk + row),
        end(row < rows ? min((blockIdx.x + 1) * grid.chunk, grid.pixels) : 0) {}

  unsigned base;  ///< the first channel of the slab
  unsigned lanes, rows, row, first, begin, end;

  /// Channels of the slab.
  __device__ unsigned width() const { return lanes * W; }
  /// Whether the block has no pixels, but stores what all blocks compute alike.
  __device__ bool keeps(const ChannelGrid& grid) const { return blockIdx.x == grid.chunks; }
  /// Where the first channel of pixel p lies; tensors have less than 2^31 entries.
  __device__ unsigned at(const ChannelGrid& grid, unsigned p) const {
    return (blockIdx.z * grid.pixels + p) * grid.channels + first;
  }
};

}  // namespace hearsay::engine::cuda
