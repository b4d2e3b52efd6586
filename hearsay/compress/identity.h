#pragma once

#include <memory>

#include "hearsay/compress/compressor.h"

namespace hearsay::compress {

/// C(x) = x: every entry as 4 bytes. delta = 1.
std::unique_ptr<Compressor> make_identity(const Arguments& arguments);

}  // namespace hearsay::compress
