#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "hearsay/train/run_view.h"

namespace hearsay::cli {

/// Progress and speed of a run.
struct Pace {
  std::uint64_t round = 0, total = 0;
  double rounds_per_second = 0;  ///< since it began or was resumed, evaluations included
  double seconds_left = 0;       ///< at that speed; infinite before the first round
};

/// Measures the pace of a run.
class Stopwatch {
 public:
  void start(const train::RunView& run);
  Pace pace(const train::RunView& run) const;

 private:
  std::chrono::steady_clock::time_point begin_{};
  std::uint64_t first_round_ = 0;
};

/// "0.4 s", "31 s", "2 min 05 s", "3 h 20 min", "2 d 7 h"; "-" if it is not finite.
std::string duration_text(double seconds);

}  // namespace hearsay::cli
