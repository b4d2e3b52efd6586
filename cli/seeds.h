#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "hearsay/train/run_options.h"

namespace hearsay::cli {

/// "1,2,3". Throws InvalidArgument for a list that is none, is too long or names a seed twice.
std::vector<std::uint64_t> read_seeds(std::string_view text);

struct SeedsOptions {
  std::filesystem::path out{};  ///< empty: the first of runs/001, runs/002, ... that is free
  bool quiet = false;
  bool log = false;                        ///< event files for TensorBoard
  std::optional<std::uint64_t> threads{};  ///< of resumed runs too; else their setting
};

/// Trains the run once for each seed, into OUT/seed-S; finished ones are kept, interrupted ones go
/// on. Ends with a table of all and their mean and standard deviation, OUT/report.html and
/// OUT/results.json. `config` is resolved. Returns the exit status: 0, kStopped, or 1 if a run
/// failed, which does not affect the others.
///
/// Throws InvalidArgument, before anything is trained, if a directory holds a run of other
/// settings.
int train_seeds(const train::RunOptions& config, const std::vector<std::uint64_t>& seeds,
                const SeedsOptions& options);

}  // namespace hearsay::cli
