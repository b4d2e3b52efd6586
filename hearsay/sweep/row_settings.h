#pragma once

#include <map>
#include <string>
#include <string_view>

#include "hearsay/sweep/sweep_file.h"

namespace hearsay::sweep {

/// Whether this is the name of a dataset that needs the path of its files.
bool needs_path(std::string_view data);

/// The settings of one combination of a sweep file, in layers: later ones override earlier ones.
class RowSettings {
 public:
  /// `here`: the folder of the file, which replaces {here} in values.
  explicit RowSettings(std::string here) : here_(std::move(here)) {}

  void apply(const SweepFile::Settings& layer);

  /// Completes data that needs a path, from dataset -> path; and checks that the device of `given`,
  /// which is for all rows, has the precision of this one. Returns why the row cannot be run, or
  /// empty.
  std::string complete(const std::map<std::string, std::string>& where,
                       const std::map<std::string, std::string>& given);

  /// As options of a run. Throws InvalidArgument, "[FILE, line N] ...", for a value that no run can
  /// have; without a line for one of the command line.
  train::RunOptions options(const std::string& file) const;

 private:
  std::string here_;
  std::map<std::string, SweepFile::Setting> settings_;
};

}  // namespace hearsay::sweep
