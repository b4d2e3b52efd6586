#include "hearsay/gossip/group_mass_meter.h"

#include "hearsay/gossip/host_rows.h"

namespace hearsay::gossip {

static_assert(backend::kMassBlock == transport::Group::kBlock,
              "a process's share of columns begins with a block");

/// Column sums over the peers of all processes, of the columns that are this process's share.
std::vector<double> GroupMassMeter::share_of(backend::Kernels& kernels, backend::ConstBlock x,
                                             backend::ConstBlock low) {
  std::vector<double> sums =
      group_.collectives().sum_slice(placement_, HostRows(kernels, x).floats());
  if (low.data == nullptr) return sums;
  const std::vector<double> low_sums =
      group_.collectives().sum_slice(placement_, HostRows(kernels, low).floats());
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += low_sums[k];
  return sums;
}

void GroupMassMeter::keep_mass(backend::Kernels& kernels, backend::ConstBlock x,
                               backend::ConstBlock low, double keep) {
  if (group_.alone()) return MassMeter::keep_mass(kernels, x, low, keep);
  kept_ = share_of(kernels, x, low);
  for (double& sum : kept_) sum *= keep;
}

double GroupMassMeter::mass_change(backend::Kernels& kernels, backend::ConstBlock x,
                                   backend::ConstBlock low) {
  if (group_.alone()) return MassMeter::mass_change(kernels, x, low);
  const double change = total(backend::block_changes(kept_, share_of(kernels, x, low)));
  kept_ = {};
  return change;
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
