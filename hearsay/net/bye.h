#pragma once

#include <cstdint>
#include <string_view>

#include "hearsay/core/bytes.h"
#include "hearsay/net/frame.h"

namespace hearsay::net {

/// Why a peer closes a connection: the body of a BYE, one byte.
enum class ByeReason : std::uint8_t {
  kLeft = 1,        ///< it leaves the run, or the run is over
  kWrongRun,        ///< the other's HELLO names another run
  kOldIncarnation,  ///< the other's HELLO is of an earlier life; number: the incarnation known
  kRefused,         ///< the other is shut out for a while
  kDuplicate,       ///< another connection of this pair stays
  kRemoved,         ///< the other is no longer in the fleet file
  kStuck,           ///< the other is silent, or does not ack or take what is sent to it
  kCorrupt,         ///< the other sent a broken frame
};

/// A BYE: the reason, and the frame's number.
struct Bye {
  ByeReason reason = ByeReason::kLeft;
  std::uint64_t number = 0;  ///< of kOldIncarnation: the one that is known; else 0
};

/// "left", "wrong run", ...
std::string_view name_of(ByeReason reason);

/// The frame.
Bytes encode_frame(ByeReason reason, std::uint64_t number = 0);

/// Throws CorruptData on another number of bytes and an unknown reason.
ByeReason decode_bye(ByteView body);

}  // namespace hearsay::net
