#include "hearsay/engine/loss.h"

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::engine {

namespace {

using data::Task;

constexpr Parameter kHuber[] = {
    {"delta", "1", "(0, 1e6]", "error, in deviations of the target, beyond which it is linear"},
};

Loss make_cross_entropy(const Arguments& /*none*/) { return {}; }

Loss make_mse(const Arguments& /*none*/) { return {.kind = Loss::Kind::kMse}; }

Loss make_huber(const Arguments& arguments) {
  return {.kind = Loss::Kind::kHuber,
          .delta = static_cast<float>(arguments.number_in_range("delta"))};
}

constexpr LossEntry kRegistry[] = {
    {{"cross-entropy", "cross-entropy", "of the softmax, for classes", {}, make_cross_entropy},
     Task::kClassification},
    {{"mse", "mse", "mean of the squared errors of all targets, for numbers", {}, make_mse},
     Task::kRegression},
    {{"huber", "huber:delta=1", "squared for small errors, linear for large ones: for outliers",
      kHuber, make_huber},
     Task::kRegression},
};

}  // namespace

Registry<LossEntry> loss_registry() { return {"loss", kRegistry}; }

Loss make_loss(std::string_view spec, Task task) {
  const LossEntry& entry = loss_registry().find(spec);
  const Arguments arguments(spec, entry.parameters);
  if (entry.task != task) {
    throw InvalidArgument(fmt::format(
        "[loss] {} is for --task {}; this run's is {}, use --loss {}", entry.name,
        entry.task == Task::kRegression ? "regression" : "classification",
        task == Task::kRegression ? "regression" : "classification", default_loss(task)));
  }
  return entry.make(arguments);
}

std::string_view default_loss(Task task) {
  return task == Task::kRegression ? "mse" : "cross-entropy";
}

}  // namespace hearsay::engine
