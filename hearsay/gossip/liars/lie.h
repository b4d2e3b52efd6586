#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hearsay/core/registry.h"

namespace hearsay::gossip {

/// A message: the vector x and its push-sum weight u. The model that it says is z = x/u.
struct Said {
  std::span<const float> x;
  double u = 1;
};

/// What a liar knows when it speaks.
struct Knowledge {
  std::uint32_t liar = 0;
  std::uint32_t round = 0;
  Said own{};                  ///< what it would say if it were honest
  std::vector<Said> honest{};  ///< what all honest peers say
};

/// What a liar says instead of its model z, the same to all. Of each k-th entry, with s the root of
/// the mean square of entries and xi standard normal:
///
///   sign-flip   -z                        (as bit flipping: He, Karimireddy, Jaggi 2022)
///   noise       z + times s(z) xi         new in every round
///   alie        mean - times std          over the honest peers' models, all of which it knows
///                                         (Baruch, Baruch, Goldberg 2019, "A Little Is Enough")
///   constant    s(z_0) xi                 drawn once, the same by all liars; z_0: the initial
///   model
///
/// ALIE's own choice of `times` follows from how many lie, and is 0 for 2 of 16: the default
/// is 1.5.
class Lie {
 public:
  virtual ~Lie() = default;
  virtual void tell(const Knowledge& knowledge, std::span<float> z) const = 0;
};

/// What lies are made from.
struct LieContext {
  std::uint64_t seed = 1;
  double scale = 0;  ///< s(z_0)
};

using LieEntry = Row<std::unique_ptr<Lie>(const LieContext&)>;

/// The lies that `--liars` takes, and `none`.
Registry<LieEntry> lie_registry();

/// s: the root of the mean square of the entries.
double scale_of(std::span<const float> z);

}  // namespace hearsay::gossip
