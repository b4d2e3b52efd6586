#pragma once

#include <cstddef>
#include <vector>

#include "hearsay/core/layout.h"

namespace hearsay::compress {

/// Whether the budget of a sparse operator applies per tensor or to the model as a whole.
enum class Scope { kLayer, kModel };

/// A range of the flat array of which `keep` entries are sent.
struct Unit {
  std::size_t begin = 0;
  std::size_t size = 0;
  std::size_t keep = 0;
};

/// How many of m entries are kept: max(1, floor(fraction * m)), and 0 of 0. fraction in (0, 1].
///
/// The floor is that of the exact product: 0.1 of 160 is 16. (The seed papers' code computes with
/// 1 - 0.9 < 0.1 and keeps 15.)
std::size_t kept(double fraction, std::size_t m);

/// The non-empty units of a layout, in order. Throws InvalidArgument from 2^32 entries on.
std::vector<Unit> units(const Layout& layout, Scope scope, double fraction);

/// The sum of their `keep`.
std::size_t kept(const std::vector<Unit>& units);

}  // namespace hearsay::compress
