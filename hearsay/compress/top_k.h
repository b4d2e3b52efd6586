#pragma once

#include <memory>

#include "hearsay/compress/compressor.h"

namespace hearsay::compress {

inline constexpr Parameter kTopKParameters[] = {
    {"keep", "0.01", "(0, 1]", "fraction of the entries that is sent, at least one"},
    {"scope", "layer", "layer|model", "the largest of every tensor, or of the model as a whole"},
    {"value", "f32", "f32|f16|bf16|q8", "how the values are rounded on the wire"},
};

/// Top-k: the k entries of largest magnitude, the others 0. Stich, Cordonnier, Jaggi 2018,
/// https://arxiv.org/abs/1809.07599.
///
/// k = max(1, floor(keep m)) of the m entries of each tensor (scope=layer) or of the model. Ties go
/// to the lower index; NaN is larger than infinity, so non-finite entries are sent first. For a
/// zero vector k zeros are sent.
///
/// Contractive: the k largest hold at least k/m of |x|^2, and rounding preserves a fraction p of
/// that (value_code.h), so |x - C(x)|^2 <= (1 - p k/m) |x|^2; delta is the smallest p k/m over the
/// units. With f16 and bf16 this holds while the entries sent are normal numbers of the format, up
/// to its largest; otherwise C(x) still never adds error, and error feedback carries the remainder.
std::unique_ptr<Compressor> make_top_k(const Arguments& arguments);

}  // namespace hearsay::compress
