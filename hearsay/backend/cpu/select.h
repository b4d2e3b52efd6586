#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hearsay::backend {

/// Append to `index` and `value` the k entries of x largest in magnitude, ascending by index, with
/// `first` added to the indices. k <= x.size(), and first + x.size() <= 2^32.
///
/// Exact and deterministic: magnitudes compare as the bits of |x| do (so NaN > inf > finite), and
/// ties go to the lower index. Linear time for any input; on typical input one pass over x with the
/// widest vector instructions of the machine, plus work on about 1.2 k entries.
void select_largest(std::span<const float> x, std::size_t k, std::uint32_t first,
                    std::vector<std::uint32_t>& index, std::vector<float>& value);

/// The magnitude of the k-th largest entry, as the bits of |x|, and how many entries of exactly
/// that magnitude belong to the k largest. 1 <= k <= x.size(). Three counting passes.
struct Threshold {
  std::uint32_t magnitude = 0;
  std::size_t equal = 0;
};
Threshold kth_largest(std::span<const float> x, std::size_t k);

}  // namespace hearsay::backend
