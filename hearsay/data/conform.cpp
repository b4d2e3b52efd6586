#include "hearsay/data/conform.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/error.h"
#include "hearsay/core/utf8.h"

namespace hearsay::data {

namespace {

[[noreturn]] void reject_data(const Dataset& dataset, std::string_view why) {
  throw InvalidArgument(fmt::format("[{}] {}", dataset.name, why));
}

/// Names as a description has them.
std::vector<std::string> printable(const std::vector<std::string>& names) {
  std::vector<std::string> escaped;
  for (const std::string& name : names) escaped.push_back(escape_non_utf8(name));
  return escaped;
}

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) names.push_back(fmt::format("{}", k));
  return names;
}

/// Columns of tables must be the same in the same order, as far as both sides name them.
void check_columns(const Dataset& dataset, const std::vector<std::string>& has,
                   const std::vector<std::string>& needs, std::string_view what) {
  if (has.empty() || needs.empty() || printable(has) == needs) return;
  reject_data(
      dataset,
      fmt::format("has the {} {}; the model was trained on {}, in this order; name and order "
                  "the columns so",
                  what, fmt::join(has, ", "), fmt::join(needs, ", ")));
}

/// For every label of the data the model's; of labels that no sample has, anything.
std::vector<std::uint16_t> new_labels(const Dataset& dataset, const model::Description& model,
                                      std::vector<std::string>& assumptions) {
  std::vector<bool> occurs(dataset.classes, false);
  for (const Samples* part : {&dataset.train, &dataset.test, &dataset.validation}) {
    for (const std::uint16_t label : part->labels()) occurs[label] = true;
  }
  const bool both_named = !dataset.class_names.empty() && !model.classes.empty();
  const std::vector<std::string> ours =
      dataset.class_names.empty() ? numbered(dataset.classes) : printable(dataset.class_names);
  const std::vector<std::string> theirs =
      model.classes.empty() ? numbered(model.outputs) : model.classes;
  std::vector<std::uint16_t> labels(dataset.classes);
  bool by_name = true;
  for (std::size_t label = 0; label < labels.size(); ++label) {
    if (!occurs[label]) continue;
    const auto found = std::ranges::find(theirs, ours[label]);
    labels[label] = static_cast<std::uint16_t>(found - theirs.begin());
    if (found != theirs.end()) continue;
    by_name = false;
    if (both_named) {
      reject_data(dataset,
                  fmt::format("has a class '{}', which the model does not know; its classes "
                              "are {}",
                              ours[label], fmt::join(theirs, ", ")));
    }
  }
  if (by_name) return labels;
  for (std::size_t label = 0; label < labels.size(); ++label) {
    if (occurs[label] && label >= model.outputs) {
      reject_data(dataset,
                  fmt::format("has labels up to {}, and the model knows {} classes, 0 to {}", label,
                              model.outputs, model.outputs - 1));
    }
    labels[label] = static_cast<std::uint16_t>(label);
  }
  assumptions.push_back(
      model.classes.empty()
          ? fmt::format("the model's classes have no names: those of {} are taken in their "
                        "alphabetical order, {}",
                        dataset.name, fmt::join(ours, ", "))
          : fmt::format("the classes of {} have no names: labels 0, 1, ... are taken for {}",
                        dataset.name, fmt::join(theirs, ", ")));
  return labels;
}

void conform_targets(Dataset& dataset, const model::Description& model) {
  const std::size_t targets = dataset.train.targets_each;
  if (targets != model.outputs) {
    reject_data(dataset, fmt::format("has {} targets per sample, and the model predicts {}",
                                     targets, model.outputs));
  }
  check_columns(dataset, dataset.target_names, model.targets, "targets");
  dataset.target_mean = model.target_mean;
  dataset.target_deviation = model.target_deviation;
}

void conform_classes(Dataset& dataset, const model::Description& model,
                     std::vector<std::string>& assumptions) {
  const std::vector<std::uint16_t> labels = new_labels(dataset, model, assumptions);
  for (Samples* part : {&dataset.train, &dataset.test, &dataset.validation}) {
    if (part->size() == 0) continue;
    for (std::uint16_t& label : part->labels()) label = labels[label];
  }
  dataset.classes = model.outputs;
  dataset.class_names = model.classes;
}

}  // namespace

model::Description describe(const Dataset& dataset, std::string_view model, std::string_view loss) {
  const auto filled = [&](const std::vector<float>& values, float fallback) {
    return values.empty() ? std::vector(dataset.channels, fallback) : values;
  };
  return {.model = std::string(model),
          .input = {dataset.channels, dataset.height, dataset.width},
          .scale = dataset.scale,
          .mean = filled(dataset.mean, 0.0f),
          .deviation = filled(dataset.deviation, 1.0f),
          .features = dataset.channel_names,
          .task = dataset.task() == Task::kRegression ? "regression" : "classification",
          .loss = std::string(loss),
          .outputs = dataset.outputs(),
          .classes = dataset.class_names,
          .targets = dataset.target_names,
          .target_mean = dataset.target_mean,
          .target_deviation = dataset.target_deviation};
}

Conformed conform(std::shared_ptr<const Dataset> dataset, const model::Description& model) {
  if ((dataset->task() == Task::kRegression) != model.regression()) {
    reject_data(*dataset, model.regression()
                              ? "has classes, and the model predicts numbers"
                              : "has numbers to predict, and the model tells classes");
  }
  const model::Shape shape{dataset->channels, dataset->height, dataset->width};
  if (shape != model.input) {
    reject_data(*dataset, fmt::format("has samples of {}, and the model takes {}", to_string(shape),
                                      to_string(model.input)));
  }
  Conformed made;
  check_columns(*dataset, dataset->channel_names, model.features, "features");
  auto adopted = std::make_shared<Dataset>(*dataset);
  if (dataset->scale != model.scale) {
    made.assumptions.push_back(
        fmt::format("entries of {} are taken to be in the unit of the model's training data, whose "
                    "scale was {:.6g}; alone they would have {:.6g}",
                    dataset->name, model.scale, dataset->scale));
  }
  adopted->scale = model.scale;
  adopted->mean = model.mean;
  adopted->deviation = model.deviation;
  if (model.regression()) {
    conform_targets(*adopted, model);
  } else {
    conform_classes(*adopted, model, made.assumptions);
  }
  made.dataset = std::move(adopted);
  return made;
}

}  // namespace hearsay::data
