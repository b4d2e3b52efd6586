#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hearsay/data/partition.h"

namespace hearsay::data {

/// Label skew by Dirichlet proportions, as T. Lin, S. P. Karimireddy, S. U. Stich, M. Jaggi:
/// Quasi-Global Momentum, 2021, https://arxiv.org/abs/2102.04761, do it. Samples are shuffled and
/// given to groups of up to ten peers. In a group, class by class: proportions ~ Dir(alpha) over
/// the peers that hold less than their share so far, and the class is cut by them; all is drawn
/// again while a peer has less than half its share. The group's samples, peer after peer, are then
/// cut into equal shares.
///
/// Small alpha: few classes a peer; large alpha: all alike. Where few classes meet many peers, no
/// draw may do: of 100 the one whose poorest peer has most is taken.
Partition deal_dirichlet(double alpha, std::span<const std::uint16_t> labels, std::size_t classes,
                         std::size_t peers, std::uint64_t seed);

}  // namespace hearsay::data
