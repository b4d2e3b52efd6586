#include "hearsay/train/config.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"
#include "hearsay/core/spec.h"
#include "hearsay/core/utf8.h"
#include "hearsay/train/toml_table.h"

namespace hearsay::train {

namespace {

using Kind = Option::Kind;

constexpr std::uint64_t kMostPeers = 1 << 20;
constexpr std::uint64_t kMostRounds = 0xFFFFFFFF;  // random streams number rounds with 32 bits
constexpr std::uint64_t kMostBatch = 1 << 20;
constexpr std::uint64_t kMostSeed = 0x7FFFFFFFFFFFFFFF;  // the largest TOML integer
constexpr std::uint64_t kMostThreads = 1024;

constexpr Option kOptions[] = {
    {"peers", Kind::kCount, "0", "N", "number of peers; 0: what the graph implies, or 4", true,
     kMostPeers},
    {"graph", Kind::kSpec, "auto", "SPEC",
     "who talks to whom (hearsay list graphs); auto: sparse-push:a (4 peers) or ring:directed "
     "if the method can use directed graphs, star if it needs eigenvalues above -1/3, else ring",
     true},
    {"algorithm", Kind::kSpec, "scsp", "SPEC", "the method (hearsay list algorithms)", true},
    {"compressor", Kind::kSpec, "auto", "SPEC",
     "what goes on the wire (hearsay list compressors); auto: topk:keep=0.01,value=f16 if the "
     "algorithm compresses, else identity",
     true},
    {"data", Kind::kSpec, "digits", "SPEC", "dataset or closed-form problem (hearsay list data)",
     true},
    {"model", Kind::kSpec, "auto", "SPEC",
     "what is trained on a dataset (hearsay list models); auto: cnn for digits, mnist and "
     "synthetic, "
     "resnet20 for cifar, resnet18 for folders, mlp for npz and csv",
     true},
    {"partition", Kind::kSpec, "auto", "SPEC",
     "who holds which samples (hearsay list partitions); auto: skew:0.8", true},
    {"augment", Kind::kSpec, "auto", "SPEC",
     "what is done to training images (hearsay list augmentations); auto: crop-flip for cifar, "
     "resized-crop for folders, else none",
     true},
    {"validation", Kind::kFraction, "0", "F",
     "part of the training samples that is held out, to be looked at in choosing settings", true},
    {"init", Kind::kSpec, "none", "FILE",
     "safetensors file that all peers start from, or none; recorded with its SHA-256", true},
    {"optimizer", Kind::kSpec, "auto", "SPEC",
     "the local optimizer (hearsay list optimizers); auto: nesterov:beta=0.9,weight_decay=1e-4 for "
     "datasets, sgd:weight_decay=1e-4 if the method has a momentum of its own; sgd for closed-form "
     "problems",
     true},
    {"lr", Kind::kSpec, "auto", "SPEC",
     "learning rate: 0.1, steps:0.1,at=100+150, ...; auto: cosine:0.1 for networks, 0.05 if the "
     "method needs a constant one; 0.1 for model logistic; 0.05 for closed-form problems",
     true},
    {"epochs", Kind::kCount, "0", "E",
     "epochs to train, if rounds is 0; both 0: 125 for digits, 30 for other datasets, 1000 rounds "
     "for closed-form problems",
     true, kMostRounds},
    {"rounds", Kind::kCount, "0", "T", "rounds to train, if epochs is 0; scsp adds its final ones",
     true, kMostRounds},
    {"batch", Kind::kCount, "32", "B", "samples per peer and round, for datasets", true,
     kMostBatch},
    {"seed", Kind::kCount, "1", "S", "of every random number", true, kMostSeed},
    {"link", Kind::kSpec, "none", "KEYS",
     "simulated network: latency=..,bandwidth=..,compute=..,straggler=..,loss=..", true},
    {"evaluate", Kind::kCount, "0", "K", "rounds between evaluations; 0: a twentieth of the run",
     true, kMostRounds},
    {"checkpoint", Kind::kCount, "0", "K",
     "rounds between checkpoints; 0: as evaluations, but fewer where saving would take more than a "
     "tenth of the time",
     false, kMostRounds},
    {"device", Kind::kSpec, "cpu", "SPEC", "where the peers live (hearsay list devices)", true},
    {"compare", Kind::kSpec, "auto", "yes|no",
     "train two baselines, no communication and uncompressed; auto: if nothing that changes "
     "results was given",
     false},
    {"threads", Kind::kCount, "0", "K", "worker threads; 0: one per core", false, kMostThreads},
};

std::optional<std::uint64_t> read_count(std::string_view text, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most) return {};
  return value;
}

std::optional<double> read_fraction(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  if (!(value >= 0 && value < 1)) return {};
  return value;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

/// A TOML literal string ('...') holds any spec verbatim; a quote or a control character needs the
/// escaped form.
std::string toml_string(std::string_view text) {
  const auto plain = [](char c) { return c != '\'' && !is_control(c); };
  if (std::ranges::all_of(text, plain)) return fmt::format("'{}'", text);
  std::string escaped = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += is_control(c) ? fmt::format("\\u{:04x}", c) : std::string(1, c);
  }
  return escaped + '"';
}

}  // namespace

std::span<const Option> options() { return kOptions; }

Config::Config() : given_(std::size(kOptions), false) {
  for (const Option& option : kOptions) values_.emplace_back(option.fallback);
}

std::size_t Config::index_of(std::string_view key, std::string_view where) const {
  std::vector<std::string_view> keys;
  for (std::size_t i = 0; i < std::size(kOptions); ++i) {
    if (kOptions[i].key == key) return i;
    keys.push_back(kOptions[i].key);
  }
  const std::string_view close = nearest(key, keys);
  throw InvalidArgument(fmt::format(
      "[{}] there is no setting '{}'{}; there are {}", where, key,
      close.empty() ? "" : fmt::format(" (did you mean '{}'?)", close), fmt::join(keys, ", ")));
}

void Config::set(std::string_view key, std::string_view value) {
  const std::size_t index = index_of(key, "config");
  const Option& option = kOptions[index];
  if (value.empty()) {
    throw InvalidArgument(fmt::format("[config] {} is empty; {}", key, option.meaning));
  }
  if (!is_utf8(value)) {  // config.toml could not hold it, so the run could not be resumed
    throw InvalidArgument(fmt::format(
        "[config] {} is not UTF-8: '{}'; rename what it names, or give a symbolic link to it", key,
        escape_non_utf8(value)));
  }
  std::string text(value);
  if (option.kind == Kind::kCount) {
    const auto count = read_count(value, option.most);
    if (!count) {
      throw InvalidArgument(fmt::format("[config] {} must be a whole number from 0 to {}, got '{}'",
                                        key, option.most, value));
    }
    text = fmt::format("{}", *count);  // without leading zeros, which TOML forbids
  } else if (option.kind == Kind::kFraction) {
    const auto fraction = read_fraction(value);
    if (!fraction) {
      throw InvalidArgument(
          fmt::format("[config] {} must be a number in [0, 1), got '{}'", key, value));
    }
    text = fmt::format("{}", *fraction);
  }
  values_[index] = std::move(text);
  given_[index] = true;
}

void Config::read_toml(std::string_view text, const std::string& source) {
  toml::table table;
  try {
    table = toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    throw InvalidArgument(
        fmt::format("[{}, line {}] {}", source, error.source().begin.line, error.description()));
  }
  for (const auto& [key, node] : table) {
    const std::string where = fmt::format("{}, line {}", source, node.source().begin.line);
    const std::size_t index = index_of(key.str(), where);
    std::optional<std::string> value = setting_value(node);
    if (const auto* flag = node.as_boolean(); flag && kOptions[index].value_name == "yes|no") {
      value = flag->get() ? "yes" : "no";
    }
    if (!value) {
      throw InvalidArgument(fmt::format("[{}] {} must be a text or a number", where, key.str()));
    }
    try {
      set(kOptions[index].key, *value);
    } catch (const InvalidArgument& error) {
      const std::string_view what = error.what();
      throw InvalidArgument(fmt::format("[{}]{}", where, what.substr(what.find(']') + 1)));
    }
  }
}

const std::string& Config::text(std::string_view key) const {
  return values_[index_of(key, "config")];
}

std::uint64_t Config::count(std::string_view key) const {
  const std::size_t index = index_of(key, "config");
  return read_count(values_[index], kOptions[index].most).value();
}

double Config::fraction(std::string_view key) const {
  return read_fraction(values_[index_of(key, "config")]).value();
}

bool Config::given(std::string_view key) const { return given_[index_of(key, "config")]; }

std::string Config::to_toml() const {
  std::string out;
  for (std::size_t i = 0; i < std::size(kOptions); ++i) {
    const bool number = kOptions[i].kind != Kind::kSpec;
    out += fmt::format("{} = {}\n", kOptions[i].key, number ? values_[i] : toml_string(values_[i]));
  }
  return out;
}

std::string Config::hash() const {
  Sha256 sha;
  for (std::size_t i = 0; i < std::size(kOptions); ++i) {
    if (!kOptions[i].changes_results) continue;
    const std::string line = fmt::format("{}={}\n", kOptions[i].key, values_[i]);
    sha.update(line.data(), line.size());
  }
  return sha.finish_hex();
}

}  // namespace hearsay::train
