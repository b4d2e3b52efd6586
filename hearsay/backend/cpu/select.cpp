#include "hearsay/backend/cpu/select.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearsay/backend/cpu/select.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hearsay::backend::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Prefetch distance in entries; between 1024 and 4096 the time is the same.
constexpr std::size_t kAhead = 2048;

/// Write the entries of x of magnitude at least `least`, in order, and return how many there are.
/// The outputs hold n entries; those after the returned count are overwritten too.
std::size_t collect(const float* x, std::size_t n, std::uint32_t least, std::uint32_t first,
                    std::uint32_t* index, float* value) {
  const hn::ScalableTag<std::uint32_t> counts;
  const hn::RebindToSigned<decltype(counts)> bits;  // magnitudes are below 2^31
  const hn::RebindToFloat<decltype(counts)> floats;
  const auto magnitude_mask = hn::Set(bits, 0x7fffffff);
  const auto below = hn::Set(bits, static_cast<std::int32_t>(least - 1));
  const std::size_t lanes = hn::Lanes(bits);
  std::size_t count = 0;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hwy::Prefetch(x + i + kAhead);  // the hardware prefetcher stops at page boundaries
    const auto v = hn::LoadU(floats, x + i);
    const auto large = hn::Gt(hn::And(hn::BitCast(bits, v), magnitude_mask), below);
    if (hn::AllFalse(bits, large)) continue;
    const auto place = hn::Iota(counts, first + static_cast<std::uint32_t>(i));
    hn::CompressStore(place, hn::RebindMask(counts, large), counts, index + count);
    hn::CompressStore(v, hn::RebindMask(floats, large), floats, value + count);
    count += hn::CountTrue(bits, large);
  }
  for (; i < n; ++i) {
    if ((std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffu) < least) continue;
    index[count] = first + static_cast<std::uint32_t>(i);
    value[count++] = x[i];
  }
  return count;
}

}  // namespace hearsay::backend::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearsay::backend {
namespace {

HWY_EXPORT(collect);

std::uint32_t magnitude(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7fffffffu; }

/// Vectors up to this size are selected from directly; larger ones are sampled first.
constexpr std::size_t kSmall = 1 << 11;
/// Entries per call of `collect`: between calls the outputs are enlarged if necessary.
constexpr std::size_t kChunk = 1 << 14;

/// A magnitude that slightly more than k entries of x should reach: the corresponding quantile of a
/// sample. The sample has whole cache lines, evenly spread: an eighth of x, up to 16,384 entries.
std::uint32_t estimate(std::span<const float> x, std::size_t k) {
  constexpr std::size_t kLine = 16;
  const std::size_t lines = std::min<std::size_t>(1024, x.size() / (8 * kLine));
  const std::size_t stride = x.size() / lines;
  std::vector<float> sample;
  sample.reserve(kLine * (lines + 1));
  for (std::size_t at = 0; at + kLine <= x.size(); at += stride) {
    sample.insert(sample.end(), x.begin() + at, x.begin() + at + kLine);
  }
  const double expected =
      static_cast<double>(k) * static_cast<double>(sample.size()) / static_cast<double>(x.size());
  const double rank = expected + 4 * std::sqrt(expected) + 4;  // margin: 4 standard deviations
  return rank < static_cast<double>(sample.size())
             ? kth_largest(sample, static_cast<std::size_t>(rank)).magnitude
             : 0;
}

/// Append the entries of magnitude at least `least`; give up and return false if more than `limit`.
bool collect_all(std::span<const float> x, std::uint32_t least, std::size_t limit,
                 std::uint32_t first, std::vector<std::uint32_t>& index,
                 std::vector<float>& value) {
  const std::size_t begin = index.size();
  std::size_t end = begin;
  for (std::size_t at = 0; at < x.size(); at += kChunk) {
    const std::size_t n = std::min(kChunk, x.size() - at);
    if (end - begin > limit) return false;
    if (index.size() < end + n) {
      index.resize(end + std::max(n, end / 2));
      value.resize(index.size());
    }
    end += HWY_DYNAMIC_DISPATCH(collect)(x.data() + at, n, least,
                                         first + static_cast<std::uint32_t>(at), index.data() + end,
                                         value.data() + end);
  }
  index.resize(end);
  value.resize(end);
  return end - begin <= limit;
}

/// Of the entries from `begin` on, keep the k that pass `threshold`.
void keep_largest(Threshold threshold, std::size_t begin, std::size_t k,
                  std::vector<std::uint32_t>& index, std::vector<float>& value) {
  std::size_t end = begin;
  for (std::size_t i = begin; i < index.size(); ++i) {
    const std::uint32_t m = magnitude(value[i]);
    const bool equal = m == threshold.magnitude && threshold.equal > 0;
    threshold.equal -= equal ? 1 : 0;
    index[end] = index[i];
    value[end] = value[i];
    end += m > threshold.magnitude || equal ? 1 : 0;
  }
  index.resize(begin + k);
  value.resize(begin + k);
}

/// Append the entries of x that pass the exact `threshold`.
void select_above(std::span<const float> x, Threshold threshold, std::uint32_t first,
                  std::vector<std::uint32_t>& index, std::vector<float>& value) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t m = magnitude(x[i]);
    if (m < threshold.magnitude) continue;
    if (m == threshold.magnitude) {
      if (threshold.equal == 0) continue;
      --threshold.equal;
    }
    index.push_back(first + static_cast<std::uint32_t>(i));
    value.push_back(x[i]);
  }
}

}  // namespace

Threshold kth_largest(std::span<const float> x, std::size_t k) {
  // Radix selection from the highest bits down. For few entries, smaller histograms: clearing and
  // searching large ones would dominate. Two histograms, for even and odd entries, avoid dependent
  // increments on equal neighbours.
  constexpr unsigned kMostBits = 11;
  constexpr std::size_t kFew = 4096;
  const unsigned step = x.size() < kFew ? 8 : kMostBits;
  Threshold threshold{0, k};
  std::array<std::uint32_t, 2 << kMostBits> count;
  for (unsigned high = 32; high > 0;) {
    const unsigned shift = high > step ? high - step : 0;
    const unsigned width = high - shift;
    const std::size_t bins = std::size_t{1} << width;
    const std::uint32_t known = threshold.magnitude >> shift >> width;
    std::fill_n(count.begin(), 2 * bins, 0u);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::uint32_t digits = magnitude(x[i]) >> shift;
      if (digits >> width == known) ++count[i % 2 * bins + (digits & (bins - 1))];
    }
    std::size_t digit = bins - 1;
    for (std::size_t here; (here = count[digit] + count[bins + digit]) < threshold.equal; --digit) {
      threshold.equal -= here;
    }
    threshold.magnitude |= static_cast<std::uint32_t>(digit) << shift;
    high = shift;
  }
  return threshold;
}

void select_largest(std::span<const float> x, std::size_t k, std::uint32_t first,
                    std::vector<std::uint32_t>& index, std::vector<float>& value) {
  if (k == 0) return;
  const std::size_t begin = index.size();
  const bool direct = x.size() <= kSmall || k == x.size();
  const std::uint32_t least = direct ? 0 : estimate(x, k);
  const std::size_t limit = direct ? x.size() : 2 * k + kSmall;
  const bool bounded = collect_all(x, least, limit, first, index, value);
  if (bounded && index.size() >= begin + k) {
    if (index.size() == begin + k) return;
    keep_largest(kth_largest(std::span(value).subspan(begin), k), begin, k, index, value);
    return;
  }

  // The sample was misleading, which only costs time. Too many candidates are usually ties, such as
  // zeros: then fewer than k are above them, and the estimate is the threshold itself.
  const auto forget = [&] {
    index.resize(begin);
    value.resize(begin);
  };
  forget();
  const bool above_known = !bounded && collect_all(x, least + 1, limit, first, index, value);
  const std::size_t above = index.size() - begin;
  forget();
  const bool ties = above_known && above < k;
  select_above(x, ties ? Threshold{least, k - above} : kth_largest(x, k), first, index, value);
}

}  // namespace hearsay::backend
#endif  // HWY_ONCE
