#include <algorithm>

#include <fmt/format.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/backend/device.h"
#include "hearsay/core/error.h"
#include "hearsay/data/agreement.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/image/augment.h"
#include "hearsay/data/partition.h"
#include "hearsay/engine/loss.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/model/models.h"
#include "hearsay/train/defaults.h"
#include "hearsay/train/init.h"
#include "hearsay/train/run_options.h"

namespace hearsay::train {

namespace {

using algorithm::Needs;

bool makes_its_own_data(const std::string& data) {
  const auto names = engine::objective_registry();
  return std::ranges::any_of(names,
                             [&](const auto& entry) { return entry.name == spec_name(data); });
}

/// The default graph of the method: directed if it supports that, as in the Sparse-Push paper.
std::string default_graph(const Needs& needs, std::uint64_t peers, bool asynchronous) {
  if (asynchronous) return "ring:directed";         // one that exists for any number of peers
  if (needs.lambda_min_above_third) return "star";  // an even ring has exactly -1/3
  if (needs.graph != Needs::Graph::kColumnStochastic) return "ring";
  return peers == 0 || peers == 4 ? "sparse-push:a" : "ring:directed";
}

/// `name` is the option's key.
void refuse_with_own_data(const RunOptions& options, bool given, std::string_view name) {
  if (!given) return;
  throw InvalidArgument(fmt::format("[{}] {} makes its own data and takes no {}; drop --{}",
                                    options.data, spec_name(options.data), name, name));
}

void fill(std::string& spec, std::string_view value) {
  if (spec == "auto") spec = value;
}

/// Options of parts that are brought become their names.
void name_parts(const RunParts& parts, RunOptions& r) {
  const auto name = [](std::string& option, bool brought, const std::string& unnamed) {
    if (brought && option == unnamed) option = "own";
  };
  const RunOptions defaults;
  name(r.data, static_cast<bool>(parts.objective), defaults.data);
  name(r.graph, static_cast<bool>(parts.schedule), defaults.graph);
  name(r.compressor, static_cast<bool>(parts.compressor), defaults.compressor);
  name(r.optimizer, static_cast<bool>(parts.optimizer), defaults.optimizer);
  if (parts.method) r.algorithm = parts.method->name.empty() ? "own" : parts.method->name;
}

/// The precision of products in networks is a parameter of the device, and an option beside it.
void resolve_precision(RunOptions& r) {
  const auto arguments = backend::device_registry().arguments(r.device);
  arguments.choice("precision");  // refuses those that the device does not have
  const std::string& of_device = arguments.text("precision");
  fill(r.precision, of_device);
  if (r.precision == of_device) return;
  if (arguments.given("precision")) {
    throw InvalidArgument(fmt::format(
        "[precision] precision is {}, and that of the device, {}, is {}; give one of them",
        r.precision, r.device, of_device));
  }
  r.device = backend::with_precision(r.device, r.precision);
}

/// A method of the caller without stated needs gets the defaults of one that needs little.
Needs needs_of(const std::string& algorithm, const RunParts& parts) {
  if (parts.method) return parts.method->needs.value_or(Needs{});
  return algorithm::registry().find(algorithm).needs;
}

}  // namespace

RunOptions resolve(const RunOptions& options, const RunParts& parts) {
  RunOptions r = options;
  name_parts(parts, r);
  for (const Option& option : train::options()) option.check(r);
  const bool own_data = parts.objective || makes_its_own_data(r.data);
  own_data ? fill(r.precision, "none") : resolve_precision(r);
  if (r.compare == Compare::kAuto) {
    r.compare = r.hash() == RunOptions().hash() ? Compare::kYes : Compare::kNo;
  }
  const Needs needs = needs_of(r.algorithm, parts);
  const bool asynchronous = r.timing == "asynchronous";
  if (!asynchronous && r.timing != "lock-step") {
    throw InvalidArgument(
        fmt::format("[config] timing must be lock-step or asynchronous, got '{}'", r.timing));
  }
  const bool compresses = needs.compression == Needs::Compression::kContractive;
  fill(r.graph, default_graph(needs, r.peers, asynchronous));
  fill(r.compressor, compresses ? "topk:keep=0.01,value=f16" : "identity");

  const data::DatasetEntry* dataset = parts.objective ? nullptr : data::find_dataset(r.data);
  fill(r.task, dataset != nullptr ? "classification" : "none");
  if (dataset != nullptr) {
    const data::Task task = data::parse_task(r.task);
    fill(r.loss, engine::default_loss(task));
    engine::make_loss(r.loss, task);
  }
  fill(r.loss, "none");
  fill(r.model, dataset != nullptr ? dataset->model : "none");
  r.model = with_value(r.model, model::kRange, model::kRangeHard);
  fill(r.partition, dataset != nullptr ? "skew:0.8" : "none");
  fill(r.augment, dataset != nullptr ? dataset->augmentation : "none");
  if (own_data) {
    refuse_with_own_data(r, r.task != "none", "task");
    refuse_with_own_data(r, r.loss != "none", "loss");
    refuse_with_own_data(r, r.model != "none", "model");
    refuse_with_own_data(r, r.partition != "none", "partition");
    refuse_with_own_data(r, r.augment != "none", "augment");
    refuse_with_own_data(r, r.validation > 0, "validation");
    refuse_with_own_data(r, r.train_only != "all", "train-only");
    const auto device = backend::device_registry().arguments(r.device);
    const bool in_bytes = device.text("precision") == "int8";
    refuse_with_own_data(r, r.precision != "none" || in_bytes, "precision");
  }
  if (dataset != nullptr) {
    model::model_registry().find(r.model);
    data::augmentation_registry().find(r.augment);
  }
  r.init = pin_init(r.init);
  if (dataset != nullptr && r.batch == 0) {
    throw InvalidArgument("[config] batch must be at least 1 for a dataset, got 0");
  }
  fill(r.optimizer, dataset == nullptr   ? "sgd"
                    : needs.own_momentum ? "sgd:weight_decay=1e-4"
                                         : "nesterov:beta=0.9,weight_decay=1e-4");
  fill(r.lr, dataset != nullptr ? default_rate(r, *dataset, needs) : "0.05");

  if (r.epochs > 0 && r.rounds > 0) {
    throw InvalidArgument("[config] epochs and rounds are both given; give one of them");
  }
  if (r.partition == data::kOwnPartition) {
    if (r.epochs > 0) {
      throw InvalidArgument(
          "[config] with partition own an epoch is another number of rounds on each device; give "
          "rounds");
    }
    if (r.rounds == 0) r.rounds = 1000;
  } else if (r.classes != "none" || r.mean != "none" || r.deviation != "none") {
    throw InvalidArgument(
        "[config] classes, mean and deviation are for devices with data of their own; add "
        "partition = 'own' or drop them");
  }
  data::parse_agreement(r.classes, r.mean, r.deviation);
  const graph::GraphContext context{r.peers, r.seed};
  r.peers =
      (parts.schedule ? parts.schedule(context) : graph::make_schedule(r.graph, context))->peers();
  if (r.epochs == 0 && r.rounds == 0) {
    if (dataset != nullptr) {
      r.epochs = default_epochs(r, *dataset);
    } else {
      r.rounds = 1000;
    }
  }
  return r;
}

}  // namespace hearsay::train
