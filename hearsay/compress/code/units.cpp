#include "hearsay/compress/code/units.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::compress {

std::size_t kept(double fraction, std::size_t m) {
  if (m == 0) return 0;
  // The rounding errors of `fraction` and of the product are together below 2^-52 of the product.
  const double exact = fraction * static_cast<double>(m) * (1 + 0x1p-50);
  return std::clamp<std::size_t>(static_cast<std::size_t>(exact), 1, m);
}

std::vector<Unit> units(const Layout& layout, Scope scope, double fraction) {
  if (layout.dim() > std::numeric_limits<std::uint32_t>::max()) {
    throw InvalidArgument(fmt::format(
        "[compressor] a model of {} entries; sparse messages index fewer than 2^32", layout.dim()));
  }
  std::vector<Unit> result;
  if (scope == Scope::kModel) {
    if (layout.dim() > 0) result.push_back({0, layout.dim(), kept(fraction, layout.dim())});
    return result;
  }
  for (const Segment& segment : layout.segments()) {
    if (segment.size == 0) continue;
    result.push_back({segment.offset, segment.size, kept(fraction, segment.size)});
  }
  return result;
}

std::size_t kept(const std::vector<Unit>& units) {
  std::size_t sum = 0;
  for (const Unit& unit : units) sum += unit.keep;
  return sum;
}

}  // namespace hearsay::compress
