#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hearsay/core/bytes.h"

namespace hearsay::compress {

/// A set of indices as Golomb-Rice coded gaps.
///
/// Each index is coded as the number g of indices it skips: g >> r zeros, a one, then the low r
/// bits of g. The first byte is r, then the codes follow, least significant bit first, padded with
/// zeros to a byte. The length is 1 byte + (sum over gaps of 1 + r + (g >> r)) bits. With r = 0 it
/// is a bitmap up to the last index. For a random set it is within 4 % of the entropy for
/// k <= d / 4.
struct RiceCode {
  unsigned parameter = 0;  ///< r, in [0, 31]
  std::size_t bits = 0;
  std::size_t bytes() const { return 1 + (bits + 7) / 8; }
};

/// The shortest Rice code of ascending indices, each below 2^32. Not empty.
RiceCode plan_indices(std::span<const std::uint32_t> index);

/// Append code.bytes() bytes.
void append_indices(std::span<const std::uint32_t> index, const RiceCode& code, Bytes& out);

/// Fill `index` with ascending indices below `dim`. Throws CorruptData.
void read_indices(ByteReader& in, std::size_t dim, std::span<std::uint32_t> index);

}  // namespace hearsay::compress
