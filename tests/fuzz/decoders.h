#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hearsay/core/bytes.h"
#include "hearsay/core/layout.h"

namespace hearsay::fuzz {

/// The specs of all decoders of a compressed vector: they cover each operator and value format.
const std::vector<std::string>& specs();

/// Models from empty to a thousand entries.
const std::vector<Layout>& layouts();

/// Decode untrusted bytes: byte 0 selects the spec, byte 1 the layout, the rest is the code.
/// Returns whether it was accepted. Throws std::logic_error if the decoded vector has the wrong
/// shape, and passes on any exception of a decoder but CorruptData: both are bugs.
bool decode_vector(ByteView bytes);

/// The same for a message header.
bool decode_header(ByteView bytes);

}  // namespace hearsay::fuzz
