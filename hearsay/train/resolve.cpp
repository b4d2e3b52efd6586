#include <algorithm>

#include <fmt/format.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/core/error.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/image/augment.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/model/models.h"
#include "hearsay/train/config.h"
#include "hearsay/train/init.h"

namespace hearsay::train {

namespace {

using algorithm::Needs;

bool is_dataset(const std::string& data) {
  const auto names = data::dataset_registry();
  return std::ranges::any_of(names,
                             [&](const auto& entry) { return entry.name == spec_name(data); });
}

bool makes_its_own_data(const std::string& data) {
  const auto names = engine::objective_registry();
  return std::ranges::any_of(names,
                             [&](const auto& entry) { return entry.name == spec_name(data); });
}

/// The default model and epochs of a dataset.
struct Habit {
  std::string_view data, model, epochs;
};
constexpr Habit kHabits[] = {
    {"digits", "cnn", "125"},       {"mnist", "cnn", "30"},       {"cifar10", "resnet20", "30"},
    {"cifar100", "resnet20", "30"}, {"folder", "resnet18", "30"}, {"npz", "mlp", "30"},
    {"csv", "mlp", "30"},           {"synthetic", "cnn", "30"},
};

Habit habit_of(std::string_view data) {
  const auto* found = std::ranges::find(kHabits, spec_name(data), &Habit::data);
  return found == std::end(kHabits) ? Habit{data, "mlp", "30"} : *found;
}

/// For networks a decaying rate: at a constant one, peers that have memorized their own samples
/// have occasional loss spikes (docs/decisions.md).
std::string_view default_rate(std::string_view model, const Needs& needs) {
  if (spec_name(model) == "logistic") return "0.1";
  return needs.constant_rate ? "0.05" : "cosine:0.1";
}

/// The default graph of the method: directed if it supports that, as in the Sparse-Push paper.
std::string default_graph(const Needs& needs, std::uint64_t peers) {
  if (needs.lambda_min_above_third) return "star";  // an even ring has exactly -1/3
  if (needs.graph != Needs::Graph::kColumnStochastic) return "ring";
  return peers == 0 || peers == 4 ? "sparse-push:a" : "ring:directed";
}

void refuse_data_settings(const Config& config) {
  const std::string& data = config.text("data");
  for (const char* key : {"model", "partition", "augment", "validation"}) {
    if (config.text(key) == "none" || config.text(key) == "0") continue;
    throw InvalidArgument(fmt::format("[{}] {} makes its own data and takes no {}; drop --{}", data,
                                      spec_name(data), key, key));
  }
}

/// Whether to train the baselines too: by default only for the run with all default settings.
std::string default_compare(const Config& config) {
  const auto given = [&](const Option& o) { return o.changes_results && config.given(o.key); };
  return std::ranges::any_of(options(), given) ? "no" : "yes";
}

}  // namespace

Config resolve(const Config& config) {
  Config r = config;
  if (r.text("compare") == "auto") r.set("compare", default_compare(config));
  if (r.text("compare") != "yes" && r.text("compare") != "no") {
    throw InvalidArgument(
        fmt::format("[config] compare must be yes or no, got '{}'", r.text("compare")));
  }
  const auto fill = [&](std::string_view key, const std::string& value) {
    if (r.text(key) == "auto") r.set(key, value);
  };
  const algorithm::Entry& entry = algorithm::registry().find(r.text("algorithm"));
  const bool compresses = entry.needs.compression == Needs::Compression::kContractive;
  fill("graph", default_graph(entry.needs, r.count("peers")));
  fill("compressor", compresses ? "topk:keep=0.01,value=f16" : "identity");

  const bool dataset = is_dataset(r.text("data"));
  const Habit habit = habit_of(r.text("data"));
  fill("model", std::string(dataset ? habit.model : "none"));
  fill("partition", dataset ? "skew:0.8" : "none");
  fill("augment", data::default_augmentation(r.text("data")));
  if (makes_its_own_data(r.text("data"))) refuse_data_settings(r);
  if (dataset) {
    model::model_registry().find(r.text("model"));
    data::augmentation_registry().find(r.text("augment"));
  }
  r.set("init", pin_init(r.text("init")));
  if (dataset && r.count("batch") == 0) {
    throw InvalidArgument("[config] batch must be at least 1 for a dataset, got 0");
  }
  fill("optimizer", !dataset                   ? "sgd"
                    : entry.needs.own_momentum ? "sgd:weight_decay=1e-4"
                                               : "nesterov:beta=0.9,weight_decay=1e-4");
  fill("lr", std::string(dataset ? default_rate(r.text("model"), entry.needs) : "0.05"));

  if (r.count("epochs") > 0 && r.count("rounds") > 0) {
    throw InvalidArgument("[config] epochs and rounds are both given; give one of them");
  }
  if (r.count("epochs") == 0 && r.count("rounds") == 0) {
    if (dataset) {
      r.set("epochs", habit.epochs);
    } else {
      r.set("rounds", "1000");
    }
  }
  const auto schedule = graph::make_schedule(r.text("graph"), {r.count("peers"), r.count("seed")});
  r.set("peers", fmt::format("{}", schedule->peers()));
  return r;
}

}  // namespace hearsay::train
