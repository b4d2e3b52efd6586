#include "hearsay/compress/code/sparse_code.h"

#include <numeric>

#include <fmt/format.h>

#include "hearsay/compress/code/index_code.h"
#include "hearsay/core/error.h"

namespace hearsay::compress {

namespace {

/// Checks that every unit has its number of indices.
void check_units(std::span<const Unit> units, std::span<const std::uint32_t> index,
                 std::string_view what) {
  std::size_t at = 0;
  for (const Unit& unit : units) {
    const std::size_t last = at + unit.keep - 1;
    if (index[at] < unit.begin || index[last] >= unit.begin + unit.size) {
      throw CorruptData(
          fmt::format("[{}] entries {} to {} of the model must hold {} of the indices", what,
                      unit.begin, unit.begin + unit.size - 1, unit.keep));
    }
    at += unit.keep;
  }
}

}  // namespace

std::size_t write_sparse(std::span<const Unit> units, std::size_t dim, ValueFormat format,
                         Decoded& q, Bytes* wire) {
  std::size_t bytes = value_bytes(format, units);
  if (q.index.size() < dim) {
    const RiceCode code = plan_indices(q.index);
    bytes += code.bytes();
    if (wire) append_indices(q.index, code, *wire);
  }
  round_values(format, units, q.value, wire);
  return bytes;
}

void read_sparse(ByteReader& in, std::span<const Unit> units, std::size_t dim, ValueFormat format,
                 Decoded& q) {
  std::size_t k = 0;
  for (const Unit& unit : units) k += unit.keep;
  if (in.left() < value_bytes(format, units)) {
    throw CorruptData(
        fmt::format("[{}] ends early: {} bytes cannot hold {} values", in.what(), in.left(), k));
  }
  q.sparse = true;
  q.dense.clear();
  q.index.resize(k);
  q.value.resize(k);
  if (k < dim) {
    read_indices(in, dim, q.index);
    check_units(units, q.index, in.what());
  } else {
    std::iota(q.index.begin(), q.index.end(), 0u);
  }
  read_values(in, format, units, q.value);
}

}  // namespace hearsay::compress
