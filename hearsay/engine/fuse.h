#pragma once

#include <optional>
#include <vector>

#include "hearsay/model/network.h"

namespace hearsay::engine {

/// One operation with those that are fused into the same pass: a following addition and relu.
struct Fused {
  model::Value operation;
  model::Value output;                   ///< the value of the last operation fused
  std::optional<model::Value> residual;  ///< the other term of an addition
  bool relu = false;
};

/// The steps of a network, in order. An operation is fused into the one before it if that one's
/// value has no other reader, and an addition only if its other term is computed before. Throws
/// InvalidArgument if a value other than the last is never read.
std::vector<Fused> fuse(const model::Network& network);

}  // namespace hearsay::engine
