#include "hearsay/report/page/charts.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace hearsay::report {

void paint(Curve& curve, std::size_t number) {
  curve.colour = 1 + number % kColours;
  curve.dash = (kDashOfColour[number % kColours] + number / kColours) % kDashes;
}

bool has_some(std::span<const double> values) {
  return std::ranges::any_of(values, [](double value) { return std::isfinite(value); });
}

std::vector<double> values_of(const Curve& curve, const Record& record) {
  if (curve.key == "bytes") return record.bytes();
  const Columns& columns = record.columns();
  const auto found = curve.entry < 0
                         ? columns.figure(curve.key)
                         : columns.figure(curve.key, static_cast<std::size_t>(curve.entry));
  std::vector<double> values(found.begin(), found.end());
  if (curve.key == "train_loss") {
    const auto round = columns.figure("round");
    for (std::size_t k = 0; k < values.size() && round[k] == 0; ++k) values[k] = Columns::kAbsent;
  }
  if (curve.key == "push_sum") {
    const auto low = columns.figure("push_sum_min"), high = columns.figure("push_sum_max");
    values.resize(std::min(low.size(), high.size()), Columns::kAbsent);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (std::isnan(values[k]) && low[k] == 1 && high[k] == 1) values[k] = 1;
    }
  }
  return values;
}

std::vector<Chart> charts_of_several(std::span<const ShownRun> runs,
                                     std::span<const std::size_t> record_of) {
  std::map<std::string, std::size_t> numbers;  // of labels
  std::vector<std::size_t> number_of;
  for (const ShownRun& run : runs) {
    number_of.push_back(numbers.emplace(run.label, numbers.size()).first->second);
  }
  std::vector<Chart> kinds{
      {"accuracy", "Test accuracy, mean of the peers", "", "Mean test accuracy (%)", false, "", {}},
      {"accuracy-bytes",
       "Test accuracy for the bytes sent",
       "",
       "Mean test accuracy (%)",
       false,
       "bytes",
       {}},
      {"validation",
       "Accuracy on the samples held out for validation, mean of the peers",
       "",
       "Validation accuracy (%)",
       false,
       "",
       {}},
      {"distance",
       "Distance to the optimum, mean of the peers",
       "",
       "Distance (no unit)",
       true,
       "",
       {}},
      {"loss", "Loss, mean of the peers", "", "Loss (no unit)", false, "", {}},
      {"divergence",
       "Divergence",
       "Mean over peers of the distance from the average model.",
       "Euclidean distance (no unit)",
       true,
       "",
       {}},
      {"mass-drift", "Mass drift", "", "Relative change (no unit)", true, "", {}},
      {"bytes", "Bytes sent by all peers", "", "Bytes sent (B)", false, "", {}}};
  const char* const keys[] = {"accuracy_mean",       "accuracy_mean", "validation_accuracy_mean",
                              "distance_to_optimum", "loss",          "divergence",
                              "mass_drift",          "bytes"};
  std::vector<Chart> charts;
  for (std::size_t c = 0; c < kinds.size(); ++c) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      Curve curve{runs[i].label, record_of[i], keys[c], -1, 0, 0, Curve::Look::kPlain};
      paint(curve, number_of[i]);
      const auto values = values_of(curve, runs[i].record);
      const bool sent = [&] {
        const auto bytes = runs[i].record.bytes();
        return !bytes.empty() && bytes.back() > 0;
      }();
      if (!has_some(values) || (kinds[c].axis == "bytes" && !sent)) continue;
      kinds[c].curves.push_back(std::move(curve));
    }
    if (!kinds[c].curves.empty()) charts.push_back(std::move(kinds[c]));
  }
  return charts;
}

}  // namespace hearsay::report
