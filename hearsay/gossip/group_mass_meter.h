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
  void keep_mass(backend::Kernels& kernels, backend::ConstBlock x, backend::ConstBlock low,
                 double keep) override;
  double mass_change(backend::Kernels& kernels, backend::ConstBlock x,
                     backend::ConstBlock low) override;
  double magnitude(backend::Kernels& kernels, std::span<const backend::VectorView> rows,
                   std::size_t dim) override;

 private:
  std::vector<double> share_of(backend::Kernels& kernels, backend::ConstBlock x,
                               backend::ConstBlock low);
  double total(std::span<const double> parts);

  ProcessGroup& group_;
  const transport::Placement& placement_;
  std::vector<double> kept_;  ///< of this process's share of the columns
};

}  // namespace hearsay::gossip
