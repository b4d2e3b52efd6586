#include "hearsay/cost/energy.h"

#include <iterator>

#include <fmt/format.h>

namespace hearsay::cost {

namespace {

/// Operations: M. Horowitz, "Computing's energy problem (and what we can do about it)", ISSCC 2014,
/// 45 nm, 0.9 V: multiplications of floats of 32 bits 3.7 pJ, of 16 bits 1.1 pJ, of 8-bit integers
/// 0.2 pJ; additions of 32-bit floats 0.9 pJ, of 32-bit integers 0.1 pJ; 64 bits from DRAM 1.3 to
/// 2.6 nJ; 640 pJ for 32 of them is the value used by Han, Pool, Tran, Dally 2015. Radio: D.
/// Halperin, B. Greenstein, A. Sheth, D. Wetherall, "Demystifying 802.11n power consumption",
/// HotPower 2010: up to 2.1 W. The rate is an assumption.
constexpr Parameter kHorowitz45[] = {
    {"mac", "4.6", "[0, inf)", "pJ for a multiplication and an addition of 32-bit floats"},
    {"mac16", "2", "[0, inf)",
     "pJ for a multiplication of 16-bit floats and an addition of 32-bit"},
    {"mac8", "0.3", "[0, inf)",
     "pJ for a multiplication of bytes and an addition of 32-bit integers"},
    {"word", "640", "[0, inf)", "pJ for 32 bits to or from DRAM"},
    {"power", "2.1", "[0, inf)", "W that the radio draws while it sends or receives"},
    {"rate", "100", "(0, inf)", "Mbit/s that it moves meanwhile"},
};

Energy horowitz45(const Arguments& arguments, const Effort& effort) {
  constexpr double kPico = 1e-12;
  const double seconds_a_byte = 8 / (arguments.number_in_range("rate") * 1e6);
  return {.compute = (effort.multiply_adds * arguments.number_in_range("mac") +
                      effort.multiply_adds16 * arguments.number_in_range("mac16") +
                      effort.multiply_adds8 * arguments.number_in_range("mac8")) *
                     kPico,
          .memory = effort.words * arguments.number_in_range("word") * kPico,
          .radio = effort.bytes * seconds_a_byte * arguments.number_in_range("power")};
}

constexpr EnergyEntry kRegistry[] = {
    {"horowitz45", "horowitz45:mac=4.6,mac16=2,mac8=0.3,word=640,power=2.1,rate=100",
     "a 45 nm chip with DRAM and an 802.11n radio", kHorowitz45, horowitz45},
};

}  // namespace

Registry<EnergyEntry> energy_registry() { return {"energy", kRegistry}; }

Energy energy_of(std::string_view spec, const Effort& effort) {
  return energy_registry().make(spec, effort);
}

std::string human_joules(double joules) {
  constexpr const char* kUnits[] = {"J", "mJ", "uJ", "nJ"};
  std::size_t unit = 0;
  while (joules > 0 && joules < 0.9995 && unit + 1 < std::size(kUnits)) {
    joules *= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", joules, kUnits[unit]);
}

std::string resolved_energy(std::string_view spec) {
  return energy_registry().arguments(spec).resolved();
}

}  // namespace hearsay::cost
