#pragma once

#include <string>

#include "hearsay/train/safetensors.h"

namespace hearsay::train {

/// The setting `init`: a safetensors file that all peers start from. A run is a function of its
/// config, so the resolved setting holds the file's SHA-256 too: FILE,sha256=HEX.

/// FILE as FILE,sha256=HEX; returns "none" and values that have a digest already unchanged. Throws
/// InvalidArgument if there is no such file.
std::string pin_init(const std::string& init);

/// The model of a pinned file. Throws InvalidArgument if the file has changed since it was pinned
/// or does not fit the layouts, and CorruptData if it is damaged.
SavedModel load_init(const std::string& pinned, const Layout& layout, const Layout& buffer_layout);

}  // namespace hearsay::train
