#pragma once

#include "hearsay/core/bytes.h"

namespace hearsay::fuzz {

// Decode untrusted bytes of peers on a network. They return whether the bytes were accepted, throw
// std::logic_error if what was accepted is not what encoding it again gives, and pass on any
// exception of a decoder but CorruptData: all are bugs.

/// A stream of frames, with the bodies that have a decoder: byte 0 is the size of the pieces in
/// which it arrives, less one. The same bytes in one piece must give the same frames.
bool decode_frames(ByteView bytes);

bool decode_hello(ByteView bytes);
bool decode_records(ByteView bytes);

/// A fleet file; it passes on any exception but InvalidArgument. Peers and settings, written out
/// again, must give the same fleet.
bool read_fleet(ByteView bytes);

}  // namespace hearsay::fuzz
