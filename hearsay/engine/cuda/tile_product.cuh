#pragma once

#include <cuda_runtime.h>

/// Products of small matrices in float FMAs, where a launch takes hardly longer than its reads:
/// warps compute tiles of 16 x 32, in sums whose order depends on the sizes alone. Registers per
/// lane: 16 sums, and two sets (the current and the next chunk) of 8 left and 16 right factors.
/// Shared memory: 2,176 bytes per warp.
namespace hearsay::engine::cuda {

// A warp computes a tile of kRows x kWarp entries of one peer's product: a lane has a column. It
// loads a chunk of kDepth terms while it adds up the one before.
constexpr unsigned kWarp = 32;
constexpr unsigned kRows = 16;
constexpr unsigned kDepth = 16;
// Long sums are shared among up to so many warps of a block, whose shares are added in order.
constexpr unsigned kMostShares = 16, kMostThreads = kMostShares * kWarp;

/// A tile of the product of `rows` x `depth` and `depth` x `columns` entries, outside of which
/// there are zeros.
struct Tile {
  /// Tile `number`, row by row.
  __device__ Tile(unsigned number, unsigned rows, unsigned columns, unsigned depth)
      : rows(rows), columns(columns), depth(depth) {
    const unsigned across = (columns + kWarp - 1) / kWarp;
    first_row = number / across * kRows;
    first_column = number % across * kWarp;
  }
  unsigned rows, columns, depth, first_row, first_column;
};

/// Shared memory of a warp, 32 x 17 floats = 2,176 bytes: factors on their way to other lanes, at
/// the end its share of the sums. Pitches avoid bank conflicts: 17 for the right factor's
/// transposition, 20 for the left one, read as float4 by all lanes at one address.
constexpr unsigned kLeftPitch = kRows + 4, kRightPitch = kDepth + 1;
struct alignas(16) Workspace {
  float floats[kWarp * kRightPitch];
};
static_assert(sizeof(Workspace) >= sizeof(float) * kDepth * kLeftPitch);
static_assert(sizeof(Workspace) >= sizeof(float) * kRows * kWarp);

/// The factors of a tile's chunk from `base` on, as a lane loads them: neighbouring lanes load
/// neighbouring addresses, which left and right have along the depth if their flag says so. Left is
/// 16 rows x 16 terms, 8 per lane; right 16 terms x 32 columns, 16 per lane.
template <bool kLeftAlongDepth, bool kRightAlongDepth>
struct Terms {
  static constexpr unsigned kAcross = kWarp / kDepth;
  float left[kRows / kAcross], right[kDepth];

  /// Loads the chunk into registers, zeros outside the product: 8 and 16 independent loads per
  /// lane, half a warp along the contiguous index where the flag is set.
  template <class Left, class Right>
  __device__ void read(const Tile& tile, unsigned base, const Left& left_at,
                       const Right& right_at) {
    const unsigned lane = threadIdx.x % kWarp, near = lane % kDepth, far = lane / kDepth;
#pragma unroll
    for (unsigned j = 0; j < kRows / kAcross; ++j) {
      const unsigned row = tile.first_row + (kLeftAlongDepth ? far + j * kAcross : near);
      const unsigned k = base + (kLeftAlongDepth ? near : far + j * kAcross);
      left[j] = row < tile.rows && k < tile.depth ? left_at(row, k) : 0.0f;
    }
#pragma unroll
    for (unsigned j = 0; j < kDepth; ++j) {
      const unsigned column = tile.first_column + (kRightAlongDepth ? far + j * kAcross : lane);
      const unsigned k = base + (kRightAlongDepth ? near : j);
      right[j] = column < tile.columns && k < tile.depth ? right_at(k, column) : 0.0f;
    }
  }

  /// From now on right[k] is of the lane's column, and workspace[k kLeftPitch + row] the left
  /// factor.
  __device__ void spread(float* workspace) {
    const unsigned lane = threadIdx.x % kWarp, near = lane % kDepth, far = lane / kDepth;
    __syncwarp();
    // A lane holds one term of 16 columns: transpose, so that it has 16 terms of its own column.
    if constexpr (kRightAlongDepth) {
#pragma unroll
      for (unsigned j = 0; j < kDepth; ++j) {
        workspace[(far + j * kAcross) * kRightPitch + near] = right[j];
      }
      __syncwarp();
#pragma unroll
      for (unsigned k = 0; k < kDepth; ++k) right[k] = workspace[lane * kRightPitch + k];
      __syncwarp();
    }
#pragma unroll
    for (unsigned j = 0; j < kRows / kAcross; ++j) {
      const unsigned row = kLeftAlongDepth ? far + j * kAcross : near;
      const unsigned k = kLeftAlongDepth ? near : far + j * kAcross;
      workspace[k * kLeftPitch + row] = left[j];
    }
    __syncwarp();
  }
};
static_assert(kRows == kDepth && kWarp % kDepth == 0);

/// sums[r] += left(first_row + r, k) right(k, first_column + lane) over the k of chunks `share`,
/// share + shares, ... of kDepth each, ascending; total, if asked for, likewise of left(first_row +
/// lane, k), for lanes below kRows. For a warp. Pipeline: the next chunk's loads to registers are
/// issued before the current chunk goes through shared memory (`spread`) and 16 x 16 FMAs per lane
/// are done, 4 rows per float4 broadcast.
template <bool kLeftAlongDepth, bool kRightAlongDepth, class Left, class Right>
__device__ void multiply(const Tile& tile, unsigned share, unsigned shares, const Left& left,
                         const Right& right, float* workspace, float (&sums)[kRows],
                         bool with_total, float& total) {
  Terms<kLeftAlongDepth, kRightAlongDepth> next;
  next.read(tile, share * kDepth, left, right);
  for (unsigned base = share * kDepth; base < tile.depth; base += shares * kDepth) {
    auto terms = next;
    if (base + shares * kDepth < tile.depth) next.read(tile, base + shares * kDepth, left, right);
    terms.spread(workspace);
#pragma unroll
    for (unsigned k = 0; k < kDepth; ++k) {
#pragma unroll
      for (unsigned r = 0; r < kRows; r += 4) {
        const float4 four = *reinterpret_cast<const float4*>(workspace + k * kLeftPitch + r);
        sums[r] = fmaf(four.x, terms.right[k], sums[r]);
        sums[r + 1] = fmaf(four.y, terms.right[k], sums[r + 1]);
        sums[r + 2] = fmaf(four.z, terms.right[k], sums[r + 2]);
        sums[r + 3] = fmaf(four.w, terms.right[k], sums[r + 3]);
      }
    }
    if (with_total && threadIdx.x % kWarp < kRows) {
#pragma unroll
      for (unsigned k = 0; k < kDepth; ++k) {
        total += workspace[k * kLeftPitch + threadIdx.x % kWarp];
      }
    }
  }
}

/// The same, with the depth shared among the warps of a block: each puts its 16 x 32 sums into its
/// Workspace, then rows are divided among the warps, and the shares of an entry added in the order
/// of warps. Calls body(row, column, sum) for the entries of the tile that are in the product; a
/// thread has those of one column.
template <bool kRightAlongDepth, class Left, class Right, class Body>
__device__ void multiply_together(const Tile& tile, const Left& left, const Right& right,
                                  Workspace* workspaces, const Body& body) {
  const unsigned shares = blockDim.x / kWarp, lane = threadIdx.x % kWarp;
  float* workspace = workspaces[threadIdx.x / kWarp].floats;
  float sums[kRows] = {}, total = 0;
  multiply<true, kRightAlongDepth>(tile, threadIdx.x / kWarp, shares, left, right, workspace, sums,
                                   false, total);
  __syncwarp();
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) workspace[r * kWarp + lane] = sums[r];
  __syncthreads();
  const unsigned column = tile.first_column + lane;
  for (unsigned r = threadIdx.x / kWarp; r < kRows; r += shares) {
    float sum = 0;
    for (unsigned share = 0; share < shares; ++share) {
      sum += workspaces[share].floats[r * kWarp + lane];
    }
    if (tile.first_row + r < tile.rows && column < tile.columns) {
      body(tile.first_row + r, column, sum);
    }
  }
}

}  // namespace hearsay::engine::cuda
