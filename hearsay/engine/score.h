#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearsay::engine {

/// A quantity that an objective reports for a model besides its loss: one row of the table that
/// peer reports, files, the terminal, tables, charts and sweeps iterate over. An objective names
/// its rows (Objective::metrics) and gives a value for each (Score); nothing else has to know them.
///
/// Rows are constants; their texts live as long as the program.
struct Metric {
  enum class Better { kLarger, kSmaller };

  /// The prefix of its names in files (keys_of): lower case, digits and '_', and none of the other
  /// names there, such as `loss`.
  std::string_view key{};
  std::string_view name{};       ///< in titles: "accuracy", "distance to the optimum"
  std::string_view label{};      ///< in columns and on the terminal: "accuracy", "to optimum"
  std::string_view unit{};       ///< after a value: "%"; may be empty
  std::string_view axis_unit{};  ///< on the axis of a chart, if not `unit`
  Better better = Better::kLarger;
  int digits = 2;  ///< decimals, or with `significant` the total number of digits
  bool significant = false;
  double full = 0;   ///< the upper end of its bar, which starts at 0; 0: no bar
  bool log = false;  ///< its charts are logarithmic initially
  /// Measured on the test set, and on samples held out for validation if there are any.
  bool on_samples = true;
  /// Files and tables have the value of every peer, the smallest and the largest; else only the
  /// mean and that of the averaged model.
  bool by_peer = true;
  std::string_view mean_key{};  ///< name of the mean in files, if not KEY_mean
  std::string_view meaning{};   ///< one sentence: what is measured
  std::string_view note{};      ///< below its chart; may be empty
};

/// How good one model is.
struct Score {
  double loss = 0;                          ///< on the test set, or the mean over all n peers
  std::vector<double> values{};             ///< one per row of Objective::metrics()
  std::optional<double> validation_loss{};  ///< on the samples held out from training
  std::vector<double> validation_values{};  ///< likewise; empty if nothing is held out
};

inline constexpr Metric kAccuracy{
    .key = "accuracy",
    .name = "accuracy",
    .label = "accuracy",
    .unit = "%",
    .digits = 2,
    .full = 100,
    .meaning = "percent of the samples whose class the model finds; ties go to the lowest class"};

/// Of a regression, over the N samples of a set and its K targets; both as scikit-learn's
/// root_mean_squared_error and r2_score define them.
inline constexpr Metric kRmse{
    .key = "rmse",
    .name = "RMSE",
    .label = "RMSE",
    .axis_unit = "target units",
    .better = Metric::Better::kSmaller,
    .digits = 6,
    .significant = true,
    .meaning =
        "root of the mean squared error, in the unit of the target; of several targets the "
        "mean"};
inline constexpr Metric kR2{
    .key = "r2",
    .name = "R2",
    .label = "R2",
    .digits = 4,
    .significant = true,
    .full = 1,
    .meaning =
        "1 - squared error / squared deviation from the mean of the same samples; of "
        "several targets the mean; 1 is perfect, 0 as good as the mean"};

inline constexpr Metric kDistance{.key = "distance",
                                  .name = "distance to the optimum",
                                  .label = "to optimum",
                                  .better = Metric::Better::kSmaller,
                                  .digits = 3,
                                  .significant = true,
                                  .log = true,
                                  .on_samples = false,
                                  .by_peer = false,
                                  .mean_key = "distance_to_optimum",
                                  .meaning = "|x - x*| / |x*|, or |x - x*| where x* = 0",
                                  .note = "Relative to the optimum's own length."};

/// The metrics of all named objectives (objectives.h): what a sweep can select, and what a run
/// directory of a version that did not record its metrics may contain.
std::span<const Metric> known_metrics();

bool is_better(const Metric& metric, double value, double than);

/// The value without its unit, in the format of everything that is printed: "86.75".
std::string format_value(const Metric& metric, double value);

/// On the axis of a chart: "%", "target units"; empty for a number without unit.
std::string_view axis_unit(const Metric& metric);

/// The names of a metric's numbers in metrics.jsonl and summary.json. They are stable.
struct MetricKeys {
  std::string mean;                 ///< over peers: KEY_mean
  std::string min, max;             ///< KEY_min, KEY_max
  std::string averaged;             ///< of the averaged model: KEY_of_average
  std::string by_peer;              ///< a list, one per peer: KEY
  std::string validation_mean;      ///< validation_KEY_mean
  std::string validation_averaged;  ///< validation_KEY_of_average

  /// That of the worst peer: `min` if larger is better.
  const std::string& worst(const Metric& metric) const {
    return metric.better == Metric::Better::kLarger ? min : max;
  }
};
MetricKeys keys_of(const Metric& metric);

}  // namespace hearsay::engine
