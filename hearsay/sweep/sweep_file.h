#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/sweep/sweep.h"

namespace hearsay::sweep {

/// What a sweep file says, as it stands there: sweep.cpp makes rows of it.
struct SweepFile {
  struct Setting {
    std::string key, value;
    std::size_t line;
  };
  using Settings = std::vector<Setting>;

  /// One place on an axis.
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
    std::vector<double> values;  ///< one a combination of points, the last axis fastest; NaN: none
  };
  struct Row {
    std::string label;
    Settings settings, quick;
    std::string missing;
    std::vector<Printed> printed;
    std::size_t line = 0;
  };

  /// Which labels of an axis (or of "row") a profile keeps.
  struct Selection {
    std::string name;
    std::vector<std::string> labels;
    std::size_t line;
  };
  struct Quick {
    std::string note;
    std::vector<std::uint64_t> seeds;  ///< empty: as without --quick
    Settings base;
    std::vector<Selection> selections;
  };

  std::string title, source, note;
  std::vector<std::uint64_t> seeds;
  Settings base;
  std::vector<Axis> axes;
  std::vector<Row> rows;  ///< at least one; without `rows` in the file one without a label
  std::vector<Figure> figures;
  std::vector<Difference> differences;
  std::optional<Quick> quick;
};

/// Throws InvalidArgument, "[FILE, line N] ...". Keys of settings are checked, their values are
/// not.
SweepFile parse_sweep_file(std::string_view text, const std::string& file);

}  // namespace hearsay::sweep
