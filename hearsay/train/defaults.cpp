#include "hearsay/train/defaults.h"

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/model/models.h"

namespace hearsay::train {

namespace {

constexpr std::uint64_t kUsualBatch = 32;

bool has_norm(const std::string& model) {
  const auto models = model::model_registry();
  const auto& parameters = models.find(model).parameters;
  if (std::ranges::find(parameters, "norm", &Parameter::key) == parameters.end()) return false;
  return models.arguments(model).text("norm") != "none";
}

bool is_linear(const std::string& model) {
  return spec_name(model) == "logistic" || spec_name(model) == "linear";
}

std::string number(double value) { return fmt::format("{:.3g}", value); }

}  // namespace

std::string default_rate(const RunOptions& options, const data::DatasetEntry& dataset,
                         const algorithm::Needs& needs) {
  const double scale =
      static_cast<double>(std::min(options.batch, kUsualBatch)) / static_cast<double>(kUsualBatch);
  const bool classes = options.task != "regression";
  if (classes && is_linear(options.model)) return number(0.1 * scale);
  const bool normed = classes && has_norm(options.model);
  const double rate = scale * (normed ? 0.03 : classes ? dataset.rate_without_norm : 0.01);
  if (needs.constant_rate) return number(rate / 2);
  return fmt::format("cosine:{}{}", number(rate), normed ? ",warmup=10%" : "");
}

std::uint64_t default_epochs(const RunOptions& options, const data::DatasetEntry& dataset) {
  if (dataset.training_samples == nullptr) return dataset.epochs;
  std::size_t samples = 0;
  try {
    samples = dataset.training_samples(Arguments(options.data, dataset.parameters));
  } catch (const std::exception&) {
    return dataset.epochs;
  }
  const double kept = (1 - options.validation) * static_cast<double>(samples);
  const std::uint64_t share =
      static_cast<std::uint64_t>(kept) / std::max<std::uint64_t>(options.peers, 1);
  const std::uint64_t rounds =
      std::max<std::uint64_t>((share + options.batch - 1) / options.batch, 1);  // per epoch
  return std::max(dataset.epochs, (kLeastRounds + rounds - 1) / rounds);
}

}  // namespace hearsay::train
