#include "hearsay/run/check.h"

#include <filesystem>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "hearsay/algorithm/robust/aggregation.h"
#include "hearsay/backend/device.h"
#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/image/augment.h"
#include "hearsay/data/partition.h"
#include "hearsay/engine/loss.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/gossip/liars/lie.h"
#include "hearsay/gossip/link.h"
#include "hearsay/gossip/round_driver.h"
#include "hearsay/model/models.h"
#include "hearsay/peer/peer.h"
#include "hearsay/peer/world/faults.h"
#include "hearsay/train/init.h"
#include "hearsay/train/setup.h"

namespace hearsay::run {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostRead = std::uintmax_t{64} << 20;  ///< bytes of files
constexpr double kMostMade = 1e7;                               ///< numbers of made-up data

/// Floats of the models that stand for those of a run. Of so few a compressor may keep more, but
/// never less, than of a larger model.
constexpr std::size_t kSmall = 64;

/// Faults of a simulated network are not for rounds in lock step.
void check_link(const train::RunOptions& config) {
  try {
    gossip::Link(config.link, config.peers, config.seed);
  } catch (const InvalidArgument& error) {
    try {
      peer::parse_faults(config.link, config.peers);
    } catch (const InvalidArgument&) {
      throw error;
    }
    throw InvalidArgument(
        fmt::format("{}; those of asynchronous peers need --timing asynchronous", error.what()));
  }
}

/// The bytes of a file, or of the files below a directory until they are too many.
std::uintmax_t bytes_on_disk(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return fs::file_size(path, error);
  if (!fs::is_directory(path, error)) return 0;
  std::uintmax_t bytes = 0;
  constexpr std::uintmax_t kOfAnEntry = 4096;
  for (auto entry = fs::recursive_directory_iterator(path, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    bytes += kOfAnEntry + (entry->is_regular_file(error) ? entry->file_size(error) : 0);
    if (bytes > kMostRead) break;
  }
  return bytes;
}

/// Whether the objective of a run is made quickly; true also if it cannot be made at all.
bool is_quick(const train::RunOptions& config) {
  const auto objectives = engine::objective_registry();
  const bool closed_form = objectives.contains(config.data);
  const data::DatasetEntry* dataset = data::find_dataset(config.data);
  if (!closed_form && dataset == nullptr) return true;
  const Arguments arguments = closed_form ? objectives.arguments(config.data)
                                          : data::dataset_registry().arguments(config.data);
  const auto parameters =
      closed_form ? objectives.find(config.data).parameters : dataset->parameters;
  double numbers = closed_form ? static_cast<double>(config.peers) : 1;
  for (const Parameter& parameter : parameters) {
    if (parameter.key == "path") {
      const fs::path path = arguments.text("path");
      std::error_code error;
      const auto kind = fs::status(path, error).type();
      const bool is_readable = kind == fs::file_type::regular || kind == fs::file_type::directory ||
                               kind == fs::file_type::not_found;
      return is_readable && bytes_on_disk(path) <= kMostRead;
    }
    if (parameter.key == "dim" || parameter.key == "samples") {
      numbers *= static_cast<double>(arguments.integer(parameter.key));
    }
    if (parameter.key == "shape") {
      const model::Shape shape = model::parse_shape(arguments.text("shape"));
      numbers *= static_cast<double>(shape.channels) * static_cast<double>(shape.height) *
                 static_cast<double>(shape.width);
    }
  }
  return numbers <= kMostMade;
}

bool is_random(const std::string& graph) { return graph.find("random") != std::string::npos; }

/// A spec of one family, to be parsed.
struct Family {
  std::string_view key;
  void (*parse)(const std::string& spec);
};

template <auto registry>
void parse(const std::string& spec) {
  registry().arguments(spec);
}

void parse_precision(const std::string& name) {
  if (backend::is_precision(name)) return;
  throw InvalidArgument(fmt::format(
      "[precision] there is no precision '{}'; there are fp32, int8, tf32, bf16", name));
}

constexpr Family kFamilies[] = {
    {"graph", parse<graph::registry>},
    {"algorithm", parse<algorithm::registry>},
    {"compressor", [](const std::string& spec) { compress::make_compressor(spec); }},
    {"data", [](const std::string& spec) { engine::check_data(spec); }},
    {"loss", parse<engine::loss_registry>},
    {"model", parse<model::model_registry>},
    {"partition", parse<data::partition_registry>},
    {"augment", parse<data::augmentation_registry>},
    {"optimizer", parse<gossip::optimizer_registry>},
    {"lr", [](const std::string& spec) { gossip::make_learning_rate(spec); }},
    {"robust", parse<algorithm::aggregation_registry>},
    {"liars", parse<gossip::lie_registry>},
    {"device", parse<backend::device_registry>},
    {"precision", parse_precision},
};

}  // namespace

bool is_asynchronous(const train::RunOptions& config) { return config.timing == "asynchronous"; }

void check_timing(const train::RunOptions& config, const gossip::ProcessGroup& group) {
  if (!is_asynchronous(config)) return check_link(config);
  if (!group.alone()) {
    throw InvalidArgument(
        "[timing] asynchronous peers are simulated in one process; drop mpirun, or --timing");
  }
  if (spec_name(config.device) != "cpu") {
    throw InvalidArgument(fmt::format(
        "[timing] asynchronous peers are simulated on the cpu, not on {}; drop --device",
        config.device));
  }
  if (config.checkpoint > 0) {
    throw InvalidArgument(
        "[timing] asynchronous simulations have no checkpoints; --resume begins again: drop "
        "--checkpoint");
  }
}

void check_value(const std::string& key, const std::string& value) {
  if (value == "auto" || value == "none" || value == data::kOwnPartition) return;
  for (const Family& family : kFamilies) {
    if (family.key == key) family.parse(value);
  }
}

Checks::Checks() = default;
Checks::~Checks() = default;

std::string Checks::why_not(const train::RunOptions& config) {
  train::RunOptions alike = config;
  if (!is_random(config.graph)) alike.seed = 0;
  const auto [found, is_new] = known_.try_emplace(alike.to_toml());
  if (!is_new) return found->second;
  try {
    check(config);
  } catch (const std::exception& error) {
    found->second = error.what();
  }
  return found->second;
}

/// The rounds are made for models of few floats: that finds all that does not depend on theirs.
void Checks::check(const train::RunOptions& config) {
  gossip::SingleProcess alone;
  check_timing(config, alone);
  const auto rate = gossip::make_learning_rate(config.lr);
  const auto machine = machine_of(config.device);
  const Shape& shape = shape_of(config);
  if (!shape.refused.empty()) throw InvalidArgument(shape.refused);
  const graph::Facts& facts = facts_of(config);
  auto schedule = train::make_schedule(config, {});
  const algorithm::Method method = algorithm::make_method(config.algorithm);
  auto compressor = compress::make_compressor(config.compressor);
  const auto optimizer = gossip::make_optimizer(config.optimizer, machine->kernels(), 1, kSmall);
  if (shape.layout || is_asynchronous(config)) {
    algorithm::check_fit(method.name, *method.needs,
                         {.graph_spec = config.graph,
                          .graph = facts,
                          .change = schedule->change(),
                          .compressor_spec = config.compressor,
                          .compressor = *compressor,
                          .layout = shape.layout.value_or(Layout(kSmall)),
                          .linear_optimizer = optimizer->linear(),
                          .optimizer_has_momentum = optimizer->has_momentum(),
                          .constant_rate = train::is_constant(*rate),
                          .lossy_links = is_asynchronous(config),
                          .asynchronous = is_asynchronous(config)});
  }
  if (is_asynchronous(config)) {
    peer::parse_faults(config.link, config.peers);
    algorithm::check_aggregation(config.robust, {.method = method,
                                                 .graph_spec = config.graph,
                                                 .graph = facts,
                                                 .schedule = *schedule,
                                                 .asynchronous = true,
                                                 .on_host = true});
    return;
  }
  const gossip::MakeOptimizer again = [&](backend::Kernels& kernels, std::size_t rows,
                                          std::size_t dim) {
    return gossip::make_optimizer(config.optimizer, kernels, rows, dim);
  };
  const gossip::RoundDriver rounds({.layout = Layout(kSmall),
                                    .schedule = std::move(schedule),
                                    .method = method,
                                    .compressor = std::move(compressor),
                                    .optimizer = again,
                                    .link = config.link,
                                    .robust = config.robust,
                                    .liars = config.liars,
                                    .seed = config.seed,
                                    .rounds_per_epoch = shape.rounds_per_epoch,
                                    .constant_rate = train::is_constant(*rate),
                                    .facts = facts,
                                    .graph_name = config.graph,
                                    .compressor_name = config.compressor},
                                   machine);
}

std::shared_ptr<gossip::Machine> Checks::machine_of(const std::string& device) {
  std::shared_ptr<gossip::Machine>& machine = machines_[device];
  if (!machine) machine = std::make_shared<gossip::Machine>(device, 1);
  return machine;
}

/// Of the first of the peers, as in a process that is one of as many.
const Checks::Shape& Checks::shape_of(const train::RunOptions& config) {
  train::RunOptions of_data = config;  // what an objective does not depend on has its default
  const train::RunOptions usual;
  for (const auto spec :
       {&train::RunOptions::graph, &train::RunOptions::algorithm, &train::RunOptions::compressor,
        &train::RunOptions::optimizer, &train::RunOptions::lr, &train::RunOptions::timing,
        &train::RunOptions::link, &train::RunOptions::robust, &train::RunOptions::liars}) {
    of_data.*spec = usual.*spec;
  }
  for (const auto count : {&train::RunOptions::epochs, &train::RunOptions::rounds,
                           &train::RunOptions::seed, &train::RunOptions::evaluate,
                           &train::RunOptions::checkpoint, &train::RunOptions::threads}) {
    of_data.*count = usual.*count;
  }
  const auto [found, is_new] = shapes_.try_emplace(of_data.to_toml());
  Shape& shape = found->second;
  if (!is_new) return shape;
  try {
    if (!is_quick(config)) return shape;
    const bool own_data = config.partition == data::kOwnPartition;  // refused for several peers
    transport::Alone seat({.process = 0, .processes = own_data ? 1 : config.peers, .cores = 1});
    gossip::ProcessGroup group(seat);
    const bool on_host = machine_of(config.device)->kernels().on_host();
    gossip::Machine machine(on_host ? config.device : "cpu", 1, group);
    const auto objective = train::make_objective(config, {}, config.peers, machine);
    if (config.init != "none") {
      train::load_init(config.init, objective->whole_layout(), objective->buffer_layout());
    }
    shape.rounds_per_epoch = objective->rounds_per_epoch();
    shape.layout = objective->layout();
  } catch (const std::exception& error) {
    shape.refused = error.what();
  }
  return shape;
}

const graph::Facts& Checks::facts_of(const train::RunOptions& config) {
  const std::string key = fmt::format("{} {} {} {}", config.graph, config.peers, config.timing,
                                      is_random(config.graph) ? config.seed : 0);
  const auto found = facts_.find(key);
  if (found != facts_.end()) return found->second;
  return facts_
      .emplace(key, is_asynchronous(config) ? peer::whole_graph(config, {}).facts
                                            : graph::facts_of(*train::make_schedule(config, {})))
      .first->second;
}

}  // namespace hearsay::run
