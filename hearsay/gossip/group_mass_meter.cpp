#include "hearsay/gossip/group_mass_meter.h"

#include "hearsay/gossip/host_rows.h"

namespace hearsay::gossip {

static_assert(backend::MassMeter::kBlock == transport::Group::kBlock,
              "a process's share of columns begins with a block");

std::vector<double> GroupMassMeter::column_sums(backend::Kernels& kernels, backend::ConstBlock x) {
  if (group_.alone()) return MassMeter::column_sums(kernels, x);
  return group_.collectives().sum_slice(placement_, HostRows(kernels, x).floats());
}

double GroupMassMeter::magnitude(backend::Kernels& kernels,
                                 std::span<const backend::VectorView> rows, std::size_t dim) {
  if (group_.alone()) return MassMeter::magnitude(kernels, rows, dim);
  std::vector<double> each;
  for (const backend::VectorView& row : rows) each.push_back(kernels.magnitude({&row, 1}, dim));
  return total(each);
}

double GroupMassMeter::total(std::span<const double> parts) {
  Bytes mine;
  append(mine, parts);
  double sum = 0;
  for (const Bytes& bytes : group_.collectives().gather(mine)) {
    ByteReader reader(bytes, "parts of a sum");
    while (reader.left() > 0) sum += reader.read<double>();
  }
  return sum;
}

}  // namespace hearsay::gossip
