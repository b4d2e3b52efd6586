#pragma once

namespace hearsay::peer {

/// Parts of the protocol that a test can switch off, to see that it would notice.
struct Controls {
  bool dedupe = true;          ///< a message that arrives twice is applied once
  bool take_back = true;       ///< what is not acked when the connection breaks returns
  bool settle = true;          ///< what arrived although it was taken back is paid for
  bool scale = true;           ///< steps and shares are scaled by the peer's rate (Pace)
  double entering_weight = 1;  ///< u of a peer that enters
};

}  // namespace hearsay::peer
