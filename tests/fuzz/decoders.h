#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hearsay/core/bytes.h"
#include "hearsay/core/layout.h"

namespace hearsay::fuzz {

/// Every way of decoding a compressed vector: the specs cover each operator and value format.
const std::vector<std::string>& specs();

/// Models from empty to a thousand entries.
const std::vector<Layout>& layouts();

/// Read foreign bytes: byte 0 chooses the spec, byte 1 the layout, the rest is the code. Returns
/// whether it was accepted. Throws std::logic_error if that gave a vector of the wrong shape, and
/// whatever but CorruptData a decoder throws: both are bugs.
bool decode_vector(ByteView bytes);

/// The same for a message header.
bool decode_header(ByteView bytes);

}  // namespace hearsay::fuzz
