#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "hearsay/core/layout.h"
#include "hearsay/model/description.h"

namespace hearsay::train {

/// Write one model in the safetensors format (8-byte header length, JSON header, raw floats),
/// tensors named and shaped as the segments, so that any framework can load it; after the
/// parameters come the buffers (running statistics). The description, if there is one, is the entry
/// "hearsay" of the header's `__metadata__`, as JSON. The write is atomic.
void write_safetensors(const std::filesystem::path& path, const Layout& layout,
                       std::span<const float> model, const Layout& buffer_layout = {},
                       std::span<const float> buffers = {},
                       const std::optional<model::Description>& description = {});

/// A model that was read from a file.
struct SavedModel {
  std::vector<float> parameters;
  std::vector<float> buffers;  ///< empty if the file has none
};

/// Read a model of these layouts. Tensors may be in any order; `*.num_batches_tracked`, which
/// PyTorch adds, is skipped.
///
/// Throws CorruptData for anything that is not a safetensors file, and InvalidArgument for one of
/// another model: the text names the file, the tensor, and both shapes. No size in the file is
/// trusted for an allocation except the header's, which is below the file's length and bounded by
/// what the layouts need.
SavedModel read_safetensors(const std::filesystem::path& path, const Layout& layout,
                            const Layout& buffer_layout = {});

/// What the file says of its model; none if it was written by another program or by a version of
/// hearsay that did not say it. Throws CorruptData as above, and for a damaged description.
std::optional<model::Description> read_description(const std::filesystem::path& path);

}  // namespace hearsay::train
