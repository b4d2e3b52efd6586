#pragma once

#include <variant>

#include "hearsay/compress/code/units.h"
#include "hearsay/compress/code/value_code.h"

namespace hearsay::compress {

/// The operator and its parameters, for devices with their own implementation. The formulas are in
/// the headers of the operators.
struct OtherKind {};  ///< none of the registry's: devices leave it to the host
struct IdentityKind {};
struct TopKKind {
  double keep = 0;
  Scope scope = Scope::kLayer;
  ValueFormat format = ValueFormat::kF32;
};
struct RandomKKind {
  double keep = 0;
  bool scaled = false;
};
struct QsgdKind {
  unsigned bits = 0;
  bool unbiased = false;
};
struct SignKind {};

using Kind = std::variant<OtherKind, IdentityKind, TopKKind, RandomKKind, QsgdKind, SignKind>;

}  // namespace hearsay::compress
