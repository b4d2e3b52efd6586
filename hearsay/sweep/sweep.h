#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearsay/train/run_options.h"

namespace hearsay::sweep {

/// A column of a sweep's table: one number per run, from its evaluations (metrics.jsonl).
struct Figure {
  enum class At {
    kEnd,      ///< the last evaluation
    kTrained,  ///< the last before the final rounds of a method that has some (SP of an SCSP run)
    kRound,    ///< that of a given round
  };
  std::string name;
  std::string key;  ///< a key of metrics.jsonl, or a ratio (sweep_figures.h)
  std::string unit{};
  At at = At::kEnd;
  int digits = 2;            ///< decimals
  std::uint64_t round = 0;   ///< for At::kRound
  double scale = 1;          ///< factor applied to a number before it is shown
  std::uint64_t window = 0;  ///< > 0: the mean over the evaluations of that many rounds, up to `at`
  bool squared = false;      ///< squares each evaluation before the mean
  std::string against{};     ///< label of a reference row that other rows are divided by; or empty
  double above = 0;          ///< > 0, with `against` and `window`: the end of the last window in
                             ///< which the ratio is larger, the transient stage; 0 if in none
};

/// Identifies a row of a sweep by its labels: ("row", "1 %"), ("skew", "0.8").
using Place = std::vector<std::pair<std::string, std::string>>;

/// "1 %, skew 0.8".
std::string label_of(const Place& place);

/// The difference of two figures, if that is what a paper prints: "SP loses 7 points".
struct Difference {
  struct End {
    Place place;
    std::string figure;
  };
  enum class Relation { kIs, kAbout, kAtMost };
  std::string label;
  End from, minus;
  Relation relation = Relation::kIs;
  std::optional<double> printed;
};

/// One setting of a sweep, with all its seeds.
struct SweepRow {
  std::string label;  ///< "1 %, skew 0.8"
  Place place;
  std::vector<train::RunOptions>
      configs;  ///< one per seed, resolved; empty if the row is `missing`
  /// Seeds whose settings do not fit together, and why: they have no config (unfit.h).
  std::vector<std::pair<std::uint64_t, std::string>> refused;
  std::size_t line = 0;  ///< of its entry in `rows` of the file; 0: it has none
  std::vector<std::pair<std::string, double>> printed;  ///< the paper's numbers, by figure
  std::string missing;                                  ///< why the row cannot be run
  bool wanted = true;                                   ///< to be trained now
};

/// Runs that belong to one table (docs/sweeps.md has the file).
struct Sweep {
  std::string file;  ///< its path, as given
  std::string title, source, note;
  std::string banner;  ///< for the quick profile: what it trains and does not show; else empty
  bool quick = false;
  std::vector<Figure> figures;
  std::vector<SweepRow> rows;
  std::vector<Difference> differences;
  std::vector<std::uint64_t> only_seeds;  ///< to train now; empty: all
};

struct SweepOptions {
  bool quick = false;                             ///< the file's small version
  std::map<std::string, std::string> where{};     ///< dataset -> path, for data given by its name
  std::map<std::string, std::string> settings{};  ///< override those of the file
  std::vector<std::uint64_t> seeds{};             ///< to train now, in the file or not; empty: all
  std::vector<std::string> rows{};                ///< labels of `rows` to train now; empty: all
};

/// The rows of a sweep: axes crossed with `rows`, in the order of the file, but for those that it
/// excludes. Reads no data. Rows and seeds that are not to be trained now are included all the
/// same, for their earlier runs; if the settings do not fit such a row, it is `missing`; so is one
/// whose precision the device of `settings` lacks.
///
/// Throws InvalidArgument for any error in the file, "[FILE, line N] ...", before any run begins:
/// unknown keys, lists that do not match, unknown labels, values that no run can have. Settings
/// that do not fit together are in `refused`.
Sweep read_sweep(std::string_view text, const std::string& file, const SweepOptions& options = {});

/// The same, of a file on disk. Throws InvalidArgument also if there is none.
Sweep read_sweep_file(const std::string& file, const SweepOptions& options = {});

/// FOLDER-FILE[-quick]: with the folder, since files of several folders may have the same name.
std::string name_of(const Sweep& sweep);

}  // namespace hearsay::sweep
