#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/compress/compressor.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/gossip/optimizer.h"
#include "hearsay/graph/schedule.h"

namespace hearsay::train {

/// Parts of a run that the caller brings: a model, a method, ... that hearsay does not have. What
/// is empty is made from the options.
///
/// The option of a part that is brought is only its name, by which config.toml, its hash and
/// reports identify it; left at its default it becomes "own", and for a method Method::name.
///
/// The functions are called by every Trainer, on every process of a run, and must give the same
/// results on all of them; `schedule` is called by `resolve` too, with 0 peers if that is not set.
struct RunParts {
  std::function<std::unique_ptr<engine::Objective>(const engine::ObjectiveContext&)> objective{};
  std::optional<algorithm::Method> method{};
  std::function<std::unique_ptr<graph::Schedule>(const graph::GraphContext&)> schedule{};
  std::function<std::unique_ptr<compress::Compressor>()> compressor{};
  gossip::MakeOptimizer optimizer{};
};

}  // namespace hearsay::train
