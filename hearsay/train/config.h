#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/train/run_parts.h"

namespace hearsay::train {

/// One setting of a run: a long option of `hearsay train` and a key of its TOML file.
struct Option {
  enum class Kind {
    kSpec,      ///< a component or a word
    kCount,     ///< a whole number from 0 to `most`
    kFraction,  ///< a number in [0, 1)
  };
  std::string_view key;
  Kind kind;
  std::string_view fallback;
  std::string_view value_name;  ///< in --help: SPEC, N, ...
  std::string_view meaning;
  bool changes_results;    ///< part of the config hash; threads and checkpoint intervals are not
  std::uint64_t most = 0;  ///< of a count
};

std::span<const Option> options();

/// The settings of a run, each as text. A run is determined by them: the same config and seed give
/// the same run.
class Config {
 public:
  Config();

  /// Throws InvalidArgument: unknown keys (with the nearest), counts and fractions out of range.
  void set(std::string_view key, std::string_view value);

  /// Read settings from TOML text; messages name `source`, the file's name, and the line.
  void read_toml(std::string_view text, const std::string& source);

  const std::string& text(std::string_view key) const;
  std::uint64_t count(std::string_view key) const;
  double fraction(std::string_view key) const;
  bool given(std::string_view key) const;  ///< set by the user rather than left at its default

  /// All settings as TOML; reading that gives the same config.
  std::string to_toml() const;

  /// SHA-256 over the settings that change results.
  std::string hash() const;

 private:
  std::size_t index_of(std::string_view key, std::string_view where) const;

  std::vector<std::string> values_;
  std::vector<bool> given_;
};

/// `config` with every `auto` replaced by its value for this run: a graph, compressor, optimizer,
/// ... that suit the algorithm and the data, and with the SHA-256 of the file that `init` names.
/// `parts`: what the caller brings itself. Throws InvalidArgument for settings that exclude each
/// other.
Config resolve(const Config& config, const RunParts& parts = {});

}  // namespace hearsay::train
