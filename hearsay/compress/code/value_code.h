#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hearsay/compress/code/units.h"
#include "hearsay/core/bytes.h"

namespace hearsay::compress {

/// How the values of a sparse message are rounded and packed.
///
/// f32 unchanged; f16 and bf16 rounded as in float16.h; q8 as round(127 v / s) in a signed byte,
/// with s = max |v| over the unit in f32; if one value is not finite, all of the unit's become NaN.
/// On the wire: q8's scales, one per unit, then the values in order.
enum class ValueFormat { kF32, kF16, kBf16, kQ8 };

/// Length in bytes of the code of the `units`.
std::size_t value_bytes(ValueFormat format, std::span<const Unit> units);

/// Round `values`, unit by unit with unit.keep values each, as a receiver will see them; append the
/// code to `out` unless null.
void round_values(ValueFormat format, std::span<const Unit> units, std::span<float> values,
                  Bytes* out);

/// Fill `values`. Throws CorruptData.
void read_values(ByteReader& in, ValueFormat format, std::span<const Unit> units,
                 std::span<float> values);

/// The smallest fraction p of |v|^2 that rounding preserves: |v - round(v)|^2 <= (1 - p) |v|^2 for
/// k values of one unit, none of them below the format's normal numbers or beyond its largest.
double value_quality(ValueFormat format, std::size_t k);

}  // namespace hearsay::compress
