#pragma once

#include <cstdint>
#include <functional>

#include "hearsay/backend/kernels.h"

namespace hearsay::peer {

/// The mass (a q, a u) of one message moves: what a peer adds to its (x, u), or takes from it.
struct Movement {
  enum class Kind {
    kSent,      ///< the sender loses it
    kApplied,   ///< the receiver gains it
    kReturned,  ///< the sender gains it back: the connection broke, or it was refused
    kPaid,      ///< the sender loses it again: it had arrived
  };
  Kind kind = Kind::kSent;
  std::uint32_t sender = 0, receiver = 0;
  std::uint64_t sender_life = 0, receiver_life = 0;  ///< their incarnations
  std::uint64_t number = 0;                          ///< on the edge between these lives
  std::uint32_t round = 0;                           ///< of the sender, in which it was sent
  float amount = 0;                                  ///< a
  double push_sum = 1;                               ///< u
  backend::VectorView q{};                           ///< valid during the call
};

/// Told of every movement of a peer's mass, in the order in which it happens.
using Journal = std::function<void(const Movement&)>;

}  // namespace hearsay::peer
