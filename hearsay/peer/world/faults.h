#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hearsay/core/spec.h"

namespace hearsay::peer {

/// What a simulated network and its devices do to an asynchronous run, in virtual time: the keys of
/// `--link` with `--timing asynchronous`.
///
/// A round of peer i takes compute * slowness_i * U seconds, U uniform in [0.9, 1.1]; the
/// slownesses are 1 to `speeds`, in equal ratios, in random order. A frame takes a time uniform in
/// [0, 2 delay]; if frames may get lost or arrive twice, it overtakes others. Parts of the run are
/// those of its training rounds, by the fleet's clock.
struct Faults {
  double compute = 0.1;    ///< seconds per round of the fastest peer
  double speeds = 1;       ///< the slowest peer takes that many times as long as the fastest
  double delay = 0;        ///< mean seconds of a frame
  double loss = 0;         ///< probability that a frame is lost
  double duplicate = 0;    ///< probability that a frame arrives twice
  std::uint32_t kill = 0;  ///< so many peers die, without a word,
  double kill_at = 0;      ///< after this part of the run
  double back = 0;         ///< and return after this part; 0: never
  double cut_from = 0,
         cut_to = 0;  ///< between these parts, the two halves of the fleet are cut apart

  bool reliable() const { return loss == 0 && duplicate == 0; }

  static std::span<const Parameter> parameters();
};

/// "loss=0.1,delay=0.2,speeds=4,kill=4@0.3,back=0.5,cut=0.4..0.5"; "none": no faults. Throws
/// InvalidArgument.
Faults parse_faults(std::string_view keys, std::size_t peers);

/// The slowness of each peer.
std::vector<double> slownesses(const Faults& faults, std::size_t peers, std::uint64_t seed);

/// The peers that die, ascending.
std::vector<std::uint32_t> victims(const Faults& faults, std::size_t peers, std::uint64_t seed);

}  // namespace hearsay::peer
