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

/// Every entry in 8 bits: the operator of topk:keep=1,value=q8, bit for bit, on every device.
///
/// In each tensor C(x) = round(127 x / s) s / 127, with s = max |x|; to nearest, the same for every
/// receiver. Code: s of each non-empty tensor as f32, then one signed byte per entry, no indices;
/// d + 4 tensors bytes.
///
/// Contractive: no error is above s / 254, and the largest entry is exact, so that delta is about
/// 1 / (1 + (m-1) / 254^2) for the largest tensor of m entries (value_code.h). That is the worst
/// case, one entry that outweighs all others; of normal numbers all but about 1e-4 of |x|^2 is
/// preserved.
std::unique_ptr<Compressor> make_int8(const Arguments& arguments);

}  // namespace hearsay::compress
