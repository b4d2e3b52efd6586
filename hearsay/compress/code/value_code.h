#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hearsay/compress/code/units.h"
#include "hearsay/core/bytes.h"

namespace hearsay::compress {

/// How the values of a sparse message are rounded and packed.
///
/// f32 as they are; f16 and bf16 as float16.h rounds; q8 as round(127 v / s) in a signed byte, with
/// s = max |v| over the unit in f32, all of the unit's values NaN if one is not finite. On the
/// wire: q8's scales, one a unit, then the values in order.
enum class ValueFormat { kF32, kF16, kBf16, kQ8 };

/// Bytes that the `units` need.
std::size_t value_bytes(ValueFormat format, std::span<const Unit> units);

/// Round `values`, unit after unit with unit.keep values each, to what a receiver will see; append
/// the code to `out` unless null.
void round_values(ValueFormat format, std::span<const Unit> units, std::span<float> values,
                  Bytes* out);

/// Fill `values`. Throws CorruptData.
void read_values(ByteReader& in, ValueFormat format, std::span<const Unit> units,
                 std::span<float> values);

/// The least part of |v|^2 that rounding leaves: |v - round(v)|^2 <= (1 - part) |v|^2 for k values
/// of one unit, none of them below the format's normal numbers or beyond its largest.
double value_quality(ValueFormat format, std::size_t k);

}  // namespace hearsay::compress
