#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hearsay/train/run_parts.h"

namespace hearsay::train {

struct Option;

/// Whether to train the two baselines of a run too (run/compare.h).
enum class Compare : std::uint8_t {
  kAuto,  ///< only for the run with all default settings
  kYes,
  kNo,
};

/// The settings of a run. A run is determined by them: the same options and seed give the same run.
///
///   Trainer trainer(resolve({.peers = 8, .algorithm = "sgp", .epochs = 30}));
///
/// Specs are those of `hearsay list`. `auto`, and 0 for a count, is replaced by `resolve` with what
/// suits the other settings; docs/config_reference.md says with what.
struct RunOptions {
  std::uint64_t peers = 0;
  std::string graph = "auto";  ///< who talks to whom
  std::string algorithm = "scsp";
  std::string compressor = "auto";  ///< of the messages
  std::string data = "digits";      ///< a dataset or a closed-form problem
  std::string task = "auto";        ///< classification or regression
  std::string loss = "auto";
  std::string model = "auto";
  std::string partition = "auto";  ///< of the samples among the peers
  std::string classes = "none";    ///< of devices with data of their own, joined by ','
  std::string mean = "none", deviation = "none";  ///< of their inputs, likewise
  std::string augment = "auto";                   ///< of training images
  double validation = 0;           ///< fraction of the training samples that is held out, in [0, 1)
  std::string train_only = "all";  ///< names of tensors; the others stay as they are
  std::string init = "none";       ///< safetensors file that all peers start from, or none
  std::string optimizer = "auto";
  std::string lr = "auto";           ///< learning rate: a number or a schedule
  std::uint64_t epochs = 0;          ///< to train; one of epochs and rounds is 0
  std::uint64_t rounds = 0;          ///< to train
  std::uint64_t batch = 32;          ///< samples per peer and round
  std::uint64_t seed = 1;            ///< of every random number
  std::string timing = "lock-step";  ///< or asynchronous: in virtual time, nobody waits
  std::string link = "none";         ///< simulated network
  std::string robust = "none";       ///< what receivers do against peers that lie
  std::string liars = "none";        ///< peers of a simulation that do
  std::uint64_t evaluate = 0;        ///< rounds between evaluations
  std::uint64_t checkpoint = 0;      ///< rounds between checkpoints
  std::string device = "cpu";
  std::string precision = "auto";  ///< of products in networks
  Compare compare = Compare::kAuto;
  std::uint64_t threads = 0;  ///< 0: one per core

  /// Set an option by its key and the text of its value, as flags and files give them; returns its
  /// row. Throws InvalidArgument and changes nothing: unknown keys (with the nearest), values out
  /// of range.
  const Option& set(std::string_view key, std::string_view value);

  /// Set options from TOML text; messages name `source`, the file's name, and the line. Returns the
  /// rows of those that it sets.
  std::vector<const Option*> read_toml(std::string_view text, const std::string& source);

  /// All options as TOML; reading that gives the same options.
  std::string to_toml() const;

  /// SHA-256 over the options that change results, of a resolved run: as older versions name them.
  std::string hash() const;

  bool operator==(const RunOptions&) const = default;
};

/// One row of the table of options, which is all that TOML, flags, --help and
/// docs/config_reference.md know of them: a key of the TOML file is a long option of `hearsay
/// train` and a field of RunOptions.
struct Option {
  using Field = std::variant<std::string RunOptions::*, std::uint64_t RunOptions::*,
                             double RunOptions::*, Compare RunOptions::*>;
  std::string_view key;
  Field field;
  std::string_view value_name;  ///< in --help: SPEC, N, ...
  std::string_view meaning;
  bool changes_results = true;  ///< part of the hash; threads and checkpoint intervals are not
  std::uint64_t most = 0;       ///< the largest count
  /// Values with which a run is what it was before the option existed. They are not hashed: the
  /// hashes of such runs stay, and their directories can be resumed.
  std::span<const std::string_view> unhashed{};

  /// The value as text: what `RunOptions::set` takes.
  std::string text(const RunOptions& options) const;

  /// Throws InvalidArgument if the value is out of range.
  void check(const RunOptions& options) const;
};

std::span<const Option> options();

/// The options of the run in a directory, from its config.toml, which may be of an older version.
/// Throws what RunOptions::read_toml and read_file do.
RunOptions options_of_run(const std::filesystem::path& directory);

/// In options that were read from a file of a run directory: what older versions named differently
/// gets its name of now.
void rename_older(RunOptions& options);

/// `options` with every `auto` replaced by its value for this run: a graph, compressor, optimizer,
/// ... that suit the algorithm and the data, with the SHA-256 of the file that `init` names, and
/// with names that mean the same in every version.
/// `parts`: what the caller brings itself. Throws InvalidArgument for values out of range and for
/// options that exclude each other.
RunOptions resolve(const RunOptions& options, const RunParts& parts = {});

}  // namespace hearsay::train
