#pragma once

#include <span>

#include "hearsay/compress/code/units.h"
#include "hearsay/compress/code/value_code.h"
#include "hearsay/compress/compressor.h"

namespace hearsay::compress {

/// The code of a sparse message: index_code.h's indices, one ascending list for the whole model,
/// then value_code.h's values. The counts are not sent: they follow from layout and spec. If all
/// entries are kept, the indices are not sent either.

/// q.index and q.value hold unit.keep entries of each unit, ascending. Round the values as a
/// receiver will see them, append the code to `wire` unless null, and return its length in bytes.
std::size_t write_sparse(std::span<const Unit> units, std::size_t dim, ValueFormat format,
                         Decoded& q, Bytes* wire);

/// Throws CorruptData if the bytes end early or a unit has another number of entries.
void read_sparse(ByteReader& in, std::span<const Unit> units, std::size_t dim, ValueFormat format,
                 Decoded& q);

}  // namespace hearsay::compress
