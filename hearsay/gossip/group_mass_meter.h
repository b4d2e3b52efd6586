#pragma once

#include <vector>

#include "hearsay/backend/mass_meter.h"
#include "hearsay/gossip/process_group.h"

namespace hearsay::gossip {

/// The mass drift of mixing where peers live in several processes: rank 0 gets the same bits as a
/// bank of all peers would, the other ranks get 0.
class GroupMassMeter final : public backend::MassMeter {
 public:
  GroupMassMeter(ProcessGroup& group, const transport::Placement& placement)
      : group_(group), placement_(placement) {}

 protected:
  std::vector<double> column_sums(backend::Kernels& kernels, backend::ConstBlock x) override;
  double magnitude(backend::Kernels& kernels, std::span<const backend::VectorView> rows,
                   std::size_t dim) override;
  double total(std::span<const double> blocks) override;

 private:
  ProcessGroup& group_;
  const transport::Placement& placement_;
};

}  // namespace hearsay::gossip
