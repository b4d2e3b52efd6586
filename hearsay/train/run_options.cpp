#include "hearsay/train/run_options.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"
#include "hearsay/core/spec.h"
#include "hearsay/core/toml_table.h"
#include "hearsay/core/toml_writer.h"
#include "hearsay/core/utf8.h"
#include "hearsay/model/models.h"

namespace hearsay::train {

namespace {

constexpr std::uint64_t kMostPeers = 1 << 20;
constexpr std::uint64_t kMostRounds = 0xFFFFFFFF;  // random streams number rounds with 32 bits
constexpr std::uint64_t kMostBatch = 1 << 20;
constexpr std::uint64_t kMostSeed = 0x7FFFFFFFFFFFFFFF;  // the largest TOML integer
constexpr std::uint64_t kMostThreads = 1024;

constexpr std::string_view kFirstTask[] = {"auto", "classification", "none"};
// The device has the precision too, and is hashed.
constexpr std::string_view kPrecisions[] = {"auto", "none", "tf32", "fp32", "bf16", "int8"};
constexpr std::string_view kFirstNone[] = {"none"};
constexpr std::string_view kFirstTrainOnly[] = {"all"};
constexpr std::string_view kFirstTiming[] = {"lock-step"};
constexpr std::string_view kFirstLoss[] = {"auto", "cross-entropy", "none"};

constexpr Option kOptions[] = {
    {"peers", &RunOptions::peers, "N", "number of peers; 0: what the graph implies, or 4", true,
     kMostPeers},
    {"graph", &RunOptions::graph, "SPEC",
     "who talks to whom (hearsay list graphs); auto: sparse-push:a (4 peers) or ring:directed "
     "if the method can use directed graphs, star if it needs eigenvalues above -1/3, else ring"},
    {"algorithm", &RunOptions::algorithm, "SPEC", "the method (hearsay list algorithms)"},
    {"compressor", &RunOptions::compressor, "SPEC",
     "what goes on the wire (hearsay list compressors); auto: topk:keep=0.01,value=f16 if the "
     "algorithm compresses, else identity"},
    {"data", &RunOptions::data, "SPEC", "dataset or closed-form problem (hearsay list data)"},
    {"task", &RunOptions::task, "classification|regression",
     "what is learnt on a dataset: classes or numbers; auto: classification", true, 0, kFirstTask},
    {"loss", &RunOptions::loss, "SPEC",
     "what is minimized on a dataset (hearsay list losses); auto: cross-entropy for "
     "classification, mse for regression",
     true, 0, kFirstLoss},
    {"model", &RunOptions::model, "SPEC",
     "what is trained on a dataset (hearsay list models); auto: that of the dataset (hearsay list "
     "data)"},
    {"partition", &RunOptions::partition, "SPEC",
     "who holds which samples (hearsay list partitions); auto: skew:0.8; own: a device of hearsay "
     "peer has its own"},
    {"classes", &RunOptions::classes, "NAMES",
     "with partition own: the names of all classes, joined by ',' (in TOML a list)", true, 0,
     kFirstNone},
    {"mean", &RunOptions::mean, "NUMBERS",
     "with partition own: of the inputs, for each channel or for all, likewise", true, 0,
     kFirstNone},
    {"deviation", &RunOptions::deviation, "NUMBERS", "with partition own: likewise", true, 0,
     kFirstNone},
    {"augment", &RunOptions::augment, "SPEC",
     "what is done to training images (hearsay list augmentations); auto: that of the dataset "
     "(hearsay list data)"},
    {"validation", &RunOptions::validation, "F",
     "part of the training samples that is held out, to be looked at in choosing settings"},
    {"train-only", &RunOptions::train_only, "NAMES",
     "tensors to train: names with * and ?, joined by +; the others keep their first values, and "
     "are neither mixed nor sent",
     true, 0, kFirstTrainOnly},
    {"init", &RunOptions::init, "FILE",
     "safetensors file that all peers start from, or none; recorded with its SHA-256"},
    {"optimizer", &RunOptions::optimizer, "SPEC",
     "the local optimizer (hearsay list optimizers); auto: nesterov:beta=0.9,weight_decay=1e-4 for "
     "datasets, sgd:weight_decay=1e-4 if the method has a momentum of its own; sgd for closed-form "
     "problems"},
    {"lr", &RunOptions::lr, "SPEC",
     "learning rate: 0.1, steps:0.1,at=100+150, ...; auto: cosine:0.03,warmup=10% for networks "
     "with "
     "norms, cosine:0.01 for those without (digits: 0.1) and for regression, 0.1 for models "
     "logistic and linear on classes; times batch / 32 for smaller batches; half of it, constant, "
     "if the method needs that; 0.05 for closed-form problems"},
    {"epochs", &RunOptions::epochs, "E",
     "epochs to train, if rounds is 0; both 0: those of the dataset (hearsay list data), but at "
     "least 500 rounds on your own files; 1000 rounds for closed-form problems",
     true, kMostRounds},
    {"rounds", &RunOptions::rounds, "T",
     "rounds to train, if epochs is 0; scsp adds its final ones", true, kMostRounds},
    {"batch", &RunOptions::batch, "B", "samples per peer and round, for datasets", true,
     kMostBatch},
    {"seed", &RunOptions::seed, "S", "of every random number", true, kMostSeed},
    {"timing", &RunOptions::timing, "lock-step|asynchronous",
     "whether a round begins when all messages of the last have arrived; asynchronous: every peer "
     "at its own pace, simulated in virtual time",
     true, 0, kFirstTiming},
    {"link", &RunOptions::link, "KEYS",
     "simulated network: latency=..,bandwidth=..,compute=..,straggler=..,loss=..; asynchronous: "
     "compute=..,speeds=..,delay=..,loss=..,duplicate=..,kill=..,back=..,cut=.."},
    {"robust", &RunOptions::robust, "SPEC",
     "what receivers do against listed peers that lie (hearsay list robust)", true, 0, kFirstNone},
    {"liars", &RunOptions::liars, "SPEC",
     "which peers of a simulation lie, and how (hearsay list lies); means are then over the honest",
     true, 0, kFirstNone},
    {"evaluate", &RunOptions::evaluate, "K",
     "rounds between evaluations; 0: a twentieth of the run", true, kMostRounds},
    {"checkpoint", &RunOptions::checkpoint, "K",
     "rounds between checkpoints; 0: as evaluations, but fewer where saving would take more than a "
     "tenth of the time",
     false, kMostRounds},
    {"device", &RunOptions::device, "SPEC", "where the peers live (hearsay list devices)"},
    {"precision", &RunOptions::precision, "fp32|int8|tf32|bf16",
     "of convolutions and matrix products: fp32 or int8 on cpu, tf32, fp32, bf16 or int8 on cuda; "
     "auto: the first of these, or what the device's spec says",
     true, 0, kPrecisions},
    {"compare", &RunOptions::compare, "yes|no",
     "train two baselines, no communication and uncompressed; auto: if nothing that changes "
     "results was given",
     false},
    {"threads", &RunOptions::threads, "K", "worker threads; 0: one per core", false, kMostThreads},
};

// Every field of RunOptions has exactly one row: the numbers are equal, and no field has two.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): stands for the value of any field
};
template <class... Values>
consteval std::size_t number_of_fields() {
  if constexpr (requires { RunOptions{Values{}..., Anything{}}; }) {
    return number_of_fields<Values..., Anything>();
  } else {
    return sizeof...(Values);
  }
}
consteval bool fields_differ() {
  for (const Option& a : kOptions) {
    for (const Option& b : kOptions) {
      if (&a != &b && a.field == b.field) return false;
    }
  }
  return true;
}
static_assert(number_of_fields<>() == std::size(kOptions), "a field of RunOptions has no row");
static_assert(fields_differ(), "two rows set the same field of RunOptions");

constexpr std::string_view kCompareWords[] = {"auto", "yes", "no"};  // in the order of Compare

// What follows is one overload per type of field. The text of a value:
std::string text_of(const std::string& value) { return value; }
std::string text_of(std::uint64_t value) { return fmt::format("{}", value); }
std::string text_of(double value) { return fmt::format("{}", value); }
std::string text_of(Compare value) {
  return std::string(kCompareWords[static_cast<std::size_t>(value)]);
}

// The value of a text; false if it is not of the type.
template <class Number>
bool read_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}
bool read(std::string_view text, std::string& value) {
  value = text;
  return true;
}
bool read(std::string_view text, std::uint64_t& value) { return read_number(text, value); }
bool read(std::string_view text, double& value) { return read_number(text, value); }
bool read(std::string_view text, Compare& value) {
  const auto* word = std::ranges::find(kCompareWords, text);
  value = static_cast<Compare>(word - std::begin(kCompareWords));
  return word != std::end(kCompareWords);
}

// Whether a value is in range.
bool fits(const Option& /*option*/, const std::string& /*value*/) { return true; }
bool fits(const Option& option, std::uint64_t value) { return value <= option.most; }
bool fits(const Option& /*option*/, double value) { return value >= 0 && value < 1; }
bool fits(const Option& /*option*/, Compare /*value*/) { return true; }

// What a value must be, for messages.
std::string demand(const Option& /*option*/, const std::string& /*of*/) { return "a text"; }
std::string demand(const Option& option, std::uint64_t /*of*/) {
  return fmt::format("a whole number from 0 to {}", option.most);
}
std::string demand(const Option& /*option*/, double /*of*/) { return "a number in [0, 1)"; }
std::string demand(const Option& /*option*/, Compare /*of*/) { return "yes or no"; }

template <class Value>
void require_fit(bool fit, const Option& option, const Value& value, std::string_view text) {
  if (fit) return;
  throw InvalidArgument(
      fmt::format("[config] {} must be {}, got '{}'", option.key, demand(option, value), text));
}

void require_text(const Option& option, std::string_view text) {
  if (text.empty()) {
    throw InvalidArgument(fmt::format("[config] {} is empty; {}", option.key, option.meaning));
  }
  if (!is_utf8(text)) {  // config.toml could not hold it, so the run could not be resumed
    throw InvalidArgument(fmt::format(
        "[config] {} is not UTF-8: '{}'; rename what it names, or give a symbolic link to it",
        option.key, escape_non_utf8(text)));
  }
}

const Option& find_option(std::string_view key, std::string_view where) {
  std::vector<std::string_view> keys;
  for (const Option& option : kOptions) {
    if (option.key == key) return option;
    keys.push_back(option.key);
  }
  const std::string_view close = nearest(key, keys);
  throw InvalidArgument(fmt::format(
      "[{}] there is no setting '{}'{}; there are {}", where, key,
      close.empty() ? "" : fmt::format(" (did you mean '{}'?)", close), fmt::join(keys, ", ")));
}

/// Options whose value is a list in TOML, and joined by ',' elsewhere.
bool takes_list(const Option& option) {
  return option.key == "classes" || option.key == "mean" || option.key == "deviation";
}

std::string joined(const toml::array& list, const std::string& where, std::string_view key) {
  std::string text;
  for (const toml::node& node : list) {
    const std::optional<std::string> value = setting_value(node);
    if (!value || value->empty() || value->find(',') != std::string::npos) {
      throw InvalidArgument(
          fmt::format("[{}] {} must be a list of texts without ',' or of numbers", where, key));
    }
    text += (text.empty() ? "" : ",") + *value;
  }
  return text;
}

}  // namespace

std::span<const Option> options() { return kOptions; }

std::string Option::text(const RunOptions& options) const {
  return std::visit([&](auto member) { return text_of(options.*member); }, field);
}

void Option::check(const RunOptions& options) const {
  const std::string shown = text(options);
  require_text(*this, shown);
  std::visit(
      [&](auto member) {
        const auto& value = options.*member;
        require_fit(fits(*this, value), *this, value, shown);
      },
      field);
}

const Option& RunOptions::set(std::string_view key, std::string_view value) {
  const Option& option = find_option(key, "config");
  require_text(option, value);
  std::visit(
      [&](auto member) {
        auto next = this->*member;
        require_fit(read(value, next) && fits(option, next), option, next, value);
        this->*member = std::move(next);
      },
      option.field);
  return option;
}

std::vector<const Option*> RunOptions::read_toml(std::string_view text, const std::string& source) {
  const toml::table table = parse_toml(text, source);
  std::vector<const Option*> rows;
  for (const auto& [key, node] : table) {
    const std::string where = fmt::format("{}, line {}", source, node.source().begin.line);
    const Option& option = find_option(key.str(), where);
    std::optional<std::string> value = setting_value(node);
    if (const auto* list = node.as_array(); list != nullptr && takes_list(option)) {
      value = joined(*list, where, key.str());
    }
    const bool takes_flag = std::holds_alternative<Compare RunOptions::*>(option.field);
    if (const auto* flag = node.as_boolean(); flag != nullptr && takes_flag) {
      value = flag->get() ? "yes" : "no";
    }
    if (!value) {
      throw InvalidArgument(fmt::format("[{}] {} must be a text or a number", where, key.str()));
    }
    try {
      rows.push_back(&set(option.key, *value));
    } catch (const InvalidArgument& error) {
      const std::string_view what = error.what();
      throw InvalidArgument(fmt::format("[{}]{}", where, what.substr(what.find(']') + 1)));
    }
  }
  return rows;
}

std::string RunOptions::to_toml() const {
  std::string out;
  for (const Option& option : kOptions) {
    const bool number = std::holds_alternative<std::uint64_t RunOptions::*>(option.field) ||
                        std::holds_alternative<double RunOptions::*>(option.field);
    const std::string value = option.text(*this);
    out += fmt::format("{} = {}\n", option.key, number ? value : quoted_toml(value));
  }
  return out;
}

std::string RunOptions::hash() const {
  Sha256 sha;
  for (const Option& option : kOptions) {
    if (!option.changes_results) continue;
    std::string value = option.text(*this);
    if (option.key == "model") value = with_value(value, model::kRangeSigmoid, model::kRange);
    if (std::ranges::find(option.unhashed, value) != option.unhashed.end()) continue;
    const std::string line = fmt::format("{}={}\n", option.key, value);
    sha.update(line.data(), line.size());
  }
  return sha.finish_hex();
}

RunOptions options_of_run(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "config.toml";
  RunOptions options;
  options.read_toml(read_file(file, kMostTomlBytes), file.string());
  rename_older(options);
  return options;
}

void rename_older(RunOptions& options) {
  options.model = with_value(options.model, model::kRange, model::kRangeSigmoid);
}

}  // namespace hearsay::train
