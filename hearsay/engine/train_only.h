#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hearsay/engine/objectives.h"

namespace hearsay::engine {

/// Whether a tensor's name matches one of the patterns, joined by '+', in which '*' stands for any
/// characters and '?' for one: "fc.*+*.bias".
bool matches(std::string_view patterns, std::string_view name);

/// An objective whose model is a part of `whole`'s: the tensors whose names match. Only these are
/// rows of the bank, so only these are stepped, mixed, compressed and sent; the others have the
/// values of `start`, a whole model, for all peers and for ever (fine-tuning, adapters). Buffers
/// are those of `whole`. An export has all tensors (Objective::whole).
///
/// A gradient copies each trained tensor once forward and once backward, and the whole gradient is
/// computed.
///
/// Returns `whole` itself if all match. Throws InvalidArgument, with the names that there are, if
/// none does.
std::unique_ptr<Objective> train_only(std::unique_ptr<Objective> whole, std::string_view patterns,
                                      std::span<const float> start,
                                      const ObjectiveContext& context);

}  // namespace hearsay::engine
