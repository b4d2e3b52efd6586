#pragma once

#include <memory>

#include "hearsay/engine/objectives.h"

namespace hearsay::engine {

/// An objective that computes on the host, for peers that live on another device: rows are copied
/// to the host, `objective` computes there, and gradients are copied back. The device waits
/// meanwhile; the algorithm still runs on the device.
///
/// If the context's kernels are the host's, returns `objective` itself.
std::unique_ptr<Objective> on_host(std::unique_ptr<Objective> objective,
                                   const ObjectiveContext& context);

}  // namespace hearsay::engine
