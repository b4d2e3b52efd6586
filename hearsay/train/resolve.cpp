#include <algorithm>

#include <fmt/format.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/core/error.h"
#include "hearsay/core/registry.h"
#include "hearsay/data/dataset.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/train/config.h"

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

/// The graph that suits the method: directed ones where it can use them, as in the Sparse-Push
/// paper.
std::string default_graph(const Needs& needs, std::uint64_t peers) {
  if (needs.lambda_min_above_third) return "star";  // an even ring has exactly -1/3
  if (needs.graph != Needs::Graph::kColumnStochastic) return "ring";
  return peers == 0 || peers == 4 ? "sparse-push:a" : "ring:directed";
}

}  // namespace

Config resolve(const Config& config) {
  Config r = config;
  const auto fill = [&](std::string_view key, const std::string& value) {
    if (r.text(key) == "auto") r.set(key, value);
  };
  const algorithm::Entry& entry =
      find_entry(algorithm::registry(), r.text("algorithm"), "algorithm");
  const bool compresses = entry.needs.compression == Needs::Compression::kContractive;
  fill("graph", default_graph(entry.needs, r.count("peers")));
  fill("compressor", compresses ? "topk:keep=0.01" : "identity");

  const bool dataset = is_dataset(r.text("data"));
  fill("model", dataset ? "logistic" : "none");
  fill("partition", dataset ? "skew:0.8" : "none");
  if (makes_its_own_data(r.text("data"))) {
    for (const char* key : {"model", "partition"}) {
      if (r.text(key) != "none") {
        throw InvalidArgument(fmt::format("[{}] {} makes its own data and takes no {}; drop --{}",
                                          r.text("data"), spec_name(r.text("data")), key, key));
      }
    }
  } else if (dataset && r.text("model") != "logistic") {
    throw InvalidArgument(
        fmt::format("[model] no model is named '{}'; there are logistic", r.text("model")));
  }
  if (dataset && r.count("batch") == 0) {
    throw InvalidArgument("[config] batch must be at least 1 for a dataset, got 0");
  }
  fill("optimizer", !dataset                   ? "sgd"
                    : entry.needs.own_momentum ? "sgd:weight_decay=1e-4"
                                               : "nesterov:beta=0.9,weight_decay=1e-4");
  fill("lr", dataset ? "0.1" : "0.05");

  if (r.count("epochs") > 0 && r.count("rounds") > 0) {
    throw InvalidArgument("[config] epochs and rounds are both given; give one of them");
  }
  if (r.count("epochs") == 0 && r.count("rounds") == 0) {
    if (dataset) {
      r.set("epochs", "200");
    } else {
      r.set("rounds", "1000");
    }
  }
  const auto schedule = graph::make_schedule(r.text("graph"), {r.count("peers"), r.count("seed")});
  r.set("peers", fmt::format("{}", schedule->peers()));
  return r;
}

}  // namespace hearsay::train
