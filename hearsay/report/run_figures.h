#pragma once

#include <cstdint>
#include <optional>

#include "hearsay/report/record.h"
#include "hearsay/sweep/sweep.h"

namespace hearsay::report {

/// The round that `figure.at` refers to in a run; none if the run does not record it.
std::optional<std::uint64_t> round_of(const Record& record, const sweep::Figure& figure);

/// A figure of a sweep (sweep/sweep_figures.h) for one run at a round, scaled: the mean over the
/// evaluations of the rounds (round - window, round], or the evaluation of that round. Empty if the
/// run has no such number. `against` and `above`, which concern several runs, are ignored.
std::optional<double> figure_at(const Record& record, const sweep::Figure& figure,
                                std::uint64_t round);

/// The same at the figure's own round.
std::optional<double> figure_of(const Record& record, const sweep::Figure& figure);

}  // namespace hearsay::report
