#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hearsay/core/registry.h"

namespace hearsay::cost {

/// The work of one device in a round, in the units that energy is charged for.
struct Effort {
  double multiply_adds = 0;    ///< of 32-bit floats
  double multiply_adds16 = 0;  ///< of 16-bit floats, added to a 32-bit one
  double multiply_adds8 = 0;   ///< of bytes, added to a 32-bit integer
  double words = 0;            ///< of 32 bits, moved to or from memory
  double bytes = 0;            ///< sent and received
};

/// Joules.
struct Energy {
  double compute = 0, memory = 0, radio = 0;

  double total() const { return compute + memory + radio; }
};

/// One row of the registry: a way to turn effort into energy, with its constants as parameters.
/// These are models of a device, not measurements; docs/energy.md gives the source of each constant
/// and what is not modelled.
using EnergyEntry = Row<Energy(const Effort&)>;

Registry<EnergyEntry> energy_registry();

/// energy_of("horowitz45:rate=54", effort). Throws InvalidArgument.
Energy energy_of(std::string_view spec, const Effort& effort);

std::string human_joules(double joules);  ///< "12.3 mJ"

/// The spec with every constant written out.
std::string resolved_energy(std::string_view spec);

}  // namespace hearsay::cost
