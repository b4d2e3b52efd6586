#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hearsay/data/partition.h"

namespace hearsay::data {

/// Label skew by Dirichlet proportions, following T. Lin, S. P. Karimireddy, S. U. Stich, M. Jaggi:
/// Quasi-Global Momentum, 2021, https://arxiv.org/abs/2102.04761. Samples are shuffled and assigned
/// to groups of up to ten peers. Within a group, class by class: draw proportions ~ Dir(alpha) over
/// the peers that hold less than their share so far, and split the class accordingly; everything is
/// redrawn while some peer has less than half its share. The group's samples, peer after peer, are
/// then cut into equal shares.
///
/// Small alpha: few classes per peer; large alpha: all peers alike. With few classes and many peers
/// there may be no acceptable draw: then the best of 100, whose poorest peer has most, is taken.
Partition deal_dirichlet(double alpha, std::span<const std::uint16_t> labels, std::size_t classes,
                         std::size_t peers, std::uint64_t seed);

}  // namespace hearsay::data
