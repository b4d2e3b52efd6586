#include "hearsay/report/catalogue.h"

#include <vector>

#include <fmt/format.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/algorithm/robust/aggregation.h"
#include "hearsay/backend/device.h"
#include "hearsay/compress/compressor.h"
#include "hearsay/core/registry.h"
#include "hearsay/cost/energy.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/image/augment.h"
#include "hearsay/data/partition.h"
#include "hearsay/engine/loss.h"
#include "hearsay/engine/objectives.h"
#include "hearsay/gossip/learning_rate.h"
#include "hearsay/gossip/liars/lie.h"
#include "hearsay/gossip/link.h"
#include "hearsay/gossip/optimizer.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/model/models.h"
#include "hearsay/peer/world/faults.h"
#include "hearsay/train/run_options.h"
#include "hearsay/transport/registry.h"

namespace hearsay::report {

namespace {

struct Component {
  std::string_view name, example, summary;
  std::span<const Parameter> parameters;
  std::string note = {};  ///< of algorithms: formula, sent, kept; of datasets: a run's defaults
};

struct Family {
  std::string_view name;    ///< the word of `hearsay list`
  std::string_view option;  ///< the setting that takes it
  std::vector<Component> components;
};

template <class Entry>
void append(const Registry<Entry>& registry, std::vector<Component>& components) {
  for (const Entry& entry : registry) {
    components.push_back({entry.name, entry.example, entry.summary, entry.parameters});
  }
}

std::vector<Family> families() {
  std::vector<Family> all;
  const auto add = [&](std::string_view name, std::string_view option, const auto&... registries) {
    all.push_back({name, option, {}});
    (append(registries, all.back().components), ...);
  };
  add("graphs", "graph", graph::registry());
  add("compressors", "compressor", compress::registry());
  add("algorithms", "algorithm");
  for (const algorithm::Entry& entry : algorithm::registry()) {
    all.back().components.push_back(
        {entry.name, entry.example, entry.summary, entry.parameters,
         fmt::format("{} (sends {}; keeps {})", entry.formula, entry.sends, entry.state)});
  }
  add("models", "model", model::model_registry());
  add("data", "data");
  for (const data::DatasetEntry& entry : data::dataset_registry()) {
    all.back().components.push_back({entry.name, entry.example, entry.summary, entry.parameters,
                                     fmt::format("by default: --model {} --augment {} --epochs {}",
                                                 entry.model, entry.augmentation, entry.epochs)});
  }
  append(engine::objective_registry(), all.back().components);
  add("losses", "loss", engine::loss_registry());
  add("partitions", "partition", data::partition_registry());
  add("augmentations", "augment", data::augmentation_registry());
  add("optimizers", "optimizer", gossip::optimizer_registry());
  add("rates", "lr", gossip::learning_rate_registry());
  add("robust", "robust", algorithm::aggregation_registry());
  add("lies", "liars", gossip::lie_registry());
  add("devices", "device", backend::device_registry());
  add("transports", "transport", transport::registry());
  add("energy-models", "energy", cost::energy_registry());
  return all;
}

std::string fallback_of(const Parameter& parameter) {
  return parameter.fallback.empty() ? "required" : fmt::format("default {}", parameter.fallback);
}

std::string as_text(const Family& family) {
  std::string text = fmt::format("{} (--{}):\n", family.name, family.option);
  for (const Component& c : family.components) {
    text += fmt::format("  {:<22} {}\n", c.name, c.summary);
    if (!c.note.empty()) text += fmt::format("      {}\n", c.note);
    for (const Parameter& p : c.parameters) {
      text += fmt::format("      {}={}: {} ({})\n", p.key, p.allowed, p.meaning, fallback_of(p));
    }
  }
  return text;
}

/// A bar would end the cell of a table.
void escape_bars(std::string& cell) {
  for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) {
    cell.insert(at, 1, '\\');
  }
}

void parameter_rows(std::span<const Parameter> parameters, std::string& text) {
  for (const Parameter& p : parameters) {
    std::string allowed(p.allowed);
    escape_bars(allowed);
    text += fmt::format("| | `{}` | {} | {} ({}) |\n", p.key, allowed, p.meaning, fallback_of(p));
  }
}

}  // namespace

std::string catalogue(std::string_view name) {
  const std::vector<Family> all = families();
  std::string text;
  for (const Family& family : all) {
    if (family.name == name) return as_text(family);
    text += as_text(family) + "\n";
  }
  if (name.empty()) return text;
  std::vector<std::string_view> names;
  for (const Family& family : all) names.push_back(family.name);
  reject_name("list", name, names);
}

std::vector<FamilyNames> component_names() {
  std::vector<FamilyNames> all;
  for (const Family& family : families()) {
    FamilyNames& names = all.emplace_back(FamilyNames{family.name, family.option, {}});
    for (const Component& component : family.components) names.names.push_back(component.name);
  }
  return all;
}

std::string config_reference() {
  std::string text =
      "# Config reference\n\nMade by `hearsay list --markdown` from the tables that the program "
      "itself "
      "reads; a test\nkeeps this page equal to them.\n\n## Settings\n\nLong options of `hearsay "
      "train` "
      "and keys of its TOML file.\n\n| setting | value | default | meaning |\n| --- | --- | --- | "
      "--- |\n";
  for (const train::Option& option : train::options()) {
    std::string value_name(option.value_name);
    escape_bars(value_name);
    text += fmt::format("| `{}` | {} | `{}` | {} |\n", option.key, value_name,
                        option.text(train::RunOptions()), option.meaning);
  }
  text += "\nKeys of `link`:\n\n| | key | allowed | meaning |\n| --- | --- | --- | --- |\n";
  parameter_rows(gossip::Link::parameters(), text);
  text +=
      "\nKeys of `link` with `--timing asynchronous`:\n\n| | key | allowed | meaning |\n| --- | "
      "--- "
      "| --- | --- |\n";
  parameter_rows(peer::Faults::parameters(), text);
  for (const Family& family : families()) {
    text += fmt::format(
        "\n## {} (`--{}`)\n\n| name | key | allowed | meaning |\n| --- | --- | --- | --- |\n",
        family.name, family.option);
    for (const Component& c : family.components) {
      text += fmt::format("| `{}` | | | {} |\n", c.name, c.summary);
      if (!c.note.empty()) text += fmt::format("| | | | `{}` |\n", c.note);
      parameter_rows(c.parameters, text);
    }
  }
  return text;
}

}  // namespace hearsay::report
