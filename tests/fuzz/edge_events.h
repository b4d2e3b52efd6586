#pragma once

#include "hearsay/core/bytes.h"

namespace hearsay::fuzz {

/// One side of a pair of edges (peer/edge.h) and whatever the other may do, read from bytes. Ends
/// the program if a message returns twice, is owed without having returned or twice, is new twice,
/// or if more are on their way than may be. True if any message was sent and any arrived.
bool edge_events(ByteView bytes);

}  // namespace hearsay::fuzz
