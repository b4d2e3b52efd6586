#pragma once

#include <filesystem>
#include <span>

#include "hearsay/core/layout.h"

namespace hearsay::train {

/// Write one model in the safetensors format (8-byte header length, JSON header, raw floats),
/// tensors named and shaped as the layout's segments, so that any framework can load it. Appears
/// whole or not at all.
void write_safetensors(const std::filesystem::path& path, const Layout& layout,
                       std::span<const float> model);

}  // namespace hearsay::train
