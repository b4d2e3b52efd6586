#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/sweep/sweep.h"

namespace hearsay::sweep {

/// The contents of a sweep file as written; sweep.cpp turns them into rows.
struct SweepFile {
  static constexpr std::size_t kMostRuns = 10'000;

  struct Setting {
    std::string key, value;
    std::size_t line;
  };
  using Settings = std::vector<Setting>;

  /// One value of an axis.
  struct Point {
    std::string label;
    Settings settings;
    std::string missing;  ///< why its rows cannot be run, or empty
  };
  struct Axis {
    std::string name;
    std::vector<Point> points;
  };

  struct Printed {
    std::string figure;
    std::vector<double> values;  ///< per combination of points, the last axis fastest; NaN: none
  };
  struct Row {
    std::string label;
    Settings settings, quick;
    std::string missing;
    std::vector<Printed> printed;
    std::size_t line = 0;
  };

  /// Some labels of an axis (or of "row").
  struct Selection {
    std::string name;
    std::vector<std::string> labels;
    std::size_t line;
  };
  /// A combination is among these if its place has one of the labels of each.
  using Selections = std::vector<Selection>;

  /// Settings of some combinations only.
  struct When {
    Selections is;
    Settings settings;
  };
  struct Quick {
    std::string note;
    std::vector<std::uint64_t> seeds;  ///< empty: as without --quick
    Settings base;
    Selections selections;
  };

  std::string title, source, note;
  std::vector<std::uint64_t> seeds;
  Settings base;
  std::vector<Axis> axes;
  std::vector<Row> rows;  ///< at least one; if the file has no `rows`, one without a label
  std::vector<Selections> exclude;  ///< combinations that are not part of the sweep
  std::vector<When> when;
  std::vector<Figure> figures;
  std::vector<Difference> differences;
  std::optional<Quick> quick;
};

/// Throws InvalidArgument, "[FILE, line N] ...". Keys of settings are checked, but not their
/// values.
SweepFile parse_sweep_file(std::string_view text, const std::string& file);

}  // namespace hearsay::sweep
