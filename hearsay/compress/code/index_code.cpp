#include "hearsay/compress/code/index_code.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "hearsay/compress/code/bits.h"
#include "hearsay/core/error.h"

namespace hearsay::compress {

namespace {

constexpr unsigned kMaxParameter = 31;

/// Total bits of the codes with parameter r.
std::size_t length(std::span<const std::uint32_t> index, unsigned r) {
  std::size_t quotients = index[0] >> r;
  for (std::size_t i = 1; i < index.size(); ++i) quotients += (index[i] - index[i - 1] - 1) >> r;
  return index.size() * (1 + r) + quotients;
}

}  // namespace

RiceCode plan_indices(std::span<const std::uint32_t> index) {
  // The length L(r) is convex: L(r) - L(r+1) = sum over gaps of ceil((g >> r) / 2) - k, which
  // decreases with r. So descending from a guess, the logarithm of the mean gap, ends at the
  // minimum.
  const std::size_t skipped = index.back() + std::size_t{1} - index.size();
  const unsigned guess = static_cast<unsigned>(std::bit_width(skipped / index.size()));
  unsigned r = std::min(guess, kMaxParameter);
  std::size_t best = length(index, r);
  for (; r > 0; --r) {
    const std::size_t shorter = length(index, r - 1);
    if (shorter > best) break;
    best = shorter;
  }
  for (; r < kMaxParameter; ++r) {
    const std::size_t shorter = length(index, r + 1);
    if (shorter >= best) break;
    best = shorter;
  }
  return {r, best};
}

void append_indices(std::span<const std::uint32_t> index, const RiceCode& code, Bytes& out) {
  const unsigned r = code.parameter;
  append(out, static_cast<std::uint8_t>(r));
  BitPacker bits(out, code.bits);
  std::uint64_t next = 0;  // the lowest possible next index
  for (const std::uint32_t i : index) {
    const std::uint64_t gap = i - next;
    const std::uint64_t quotient = gap >> r;
    std::uint64_t tail = gap & ((std::uint64_t{1} << r) - 1);
    tail = tail << 1 | 1;
    if (quotient <= 24) {
      bits.put(tail << quotient, static_cast<unsigned>(quotient) + 1 + r);
    } else {
      bits.put_zeros(quotient);
      bits.put(tail, 1 + r);
    }
    next = std::uint64_t{i} + 1;
  }
  bits.finish();
}

void read_indices(ByteReader& in, std::size_t dim, std::span<std::uint32_t> index) {
  const unsigned r = in.read<std::uint8_t>();
  if (r > kMaxParameter) {
    throw CorruptData(
        fmt::format("[{}] Rice parameter {}; at most {}", in.what(), r, kMaxParameter));
  }
  BitReader bits(peek(in));
  std::uint64_t next = 0;
  for (std::uint32_t& i : index) {
    const std::uint64_t quotient = std::min<std::uint64_t>(bits.get_zeros(), dim);
    const std::uint64_t at = next + (quotient << r | bits.get(r));
    if (at >= dim) {
      throw CorruptData(fmt::format("[{}] index {} in a model of {} entries", in.what(), at, dim));
    }
    i = static_cast<std::uint32_t>(at);
    next = at + 1;
  }
  in.take(bits.used());
}

}  // namespace hearsay::compress
