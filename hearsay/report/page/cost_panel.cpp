#include "hearsay/report/page/cost_panel.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/model/models.h"

namespace hearsay::report {

namespace {

using backend::Precision;

constexpr char kEnergy[] = "horowitz45";

/// The network described by the summary and the settings; InvalidArgument if they disagree.
std::optional<model::Network> network_of(const Record& record) {
  const std::string input = record.text("input");
  std::optional<double> outputs = record.figure("outputs");
  if (!outputs) outputs = record.figure("classes");  // of versions that knew no other outputs
  if (input.empty() || !outputs || !(*outputs >= 1 && *outputs <= 1e6)) return {};
  return model::make_model(record.config().model, model::parse_shape(input),
                           static_cast<std::size_t>(*outputs));
}

/// That of the run; fp32 if its version recorded none, or this one does not know it.
Precision precision_of(const Record& record) {
  try {
    return cost::parse_precision(record.text("precision"));
  } catch (const InvalidArgument&) {
    return Precision::kFp32;
  }
}

/// A number of the summary that is more than 0.
std::optional<double> positive(const Record& record, std::string_view key) {
  const std::optional<double> value = record.figure(key);
  return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

CostPanel::Measured measured_by(const Record& record, double peers) {
  const double processes = std::min(positive(record, "processes").value_or(1), 1e6);
  std::string label = processes == 1
                          ? fmt::format("measured: all {:.0f} peers in 1 process", peers)
                          : fmt::format("measured: {:.0f} peers in {:.0f} processes, memory of one",
                                        peers, processes);
  if (record.text("device") == "cuda") label += ", without the GPU's memory";
  return {.label = std::move(label),
          .round_seconds = positive(record, "seconds_per_round"),
          .resident_bytes = positive(record, "peak_rss_bytes")};
}

std::optional<CostPanel> make_panel(const Record& record) {
  const double peers = record.figure("peers").value_or(0);
  const double rounds = record.figure("rounds").value_or(0);
  const double batch = record.figure("batch").value_or(0);
  if (!(peers >= 1 && peers <= 1e6 && rounds >= 1 && batch >= 1 && batch <= 1e9)) return {};
  const std::optional<model::Network> network = network_of(record);
  if (!network) return {};

  const double bytes =
      record.figure("bytes_total").value_or(0) + record.figure("global_bytes_total").value_or(0);
  const double sent = bytes / (peers * rounds);
  const double messages = record.figure("messages_total").value_or(0) / (peers * rounds);
  const std::string optimizer = record.config().optimizer;
  const std::string algorithm = record.config().algorithm;
  const std::size_t heard =
      static_cast<std::size_t>(std::llround(std::clamp(messages, 0.0, peers)));
  const auto samples = static_cast<std::uint64_t>(batch);
  const auto all_samples = static_cast<std::uint64_t>(batch * peers);

  CostPanel panel;
  panel.energy = cost::resolved_energy(kEnergy);
  const Precision precision = precision_of(record);
  const auto add = [&](std::string label, cost::Task task, Precision in) {
    if (precision != Precision::kFp32) label += fmt::format(", {}", backend::name_of(in));
    task.precision = in;
    panel.devices.push_back({std::move(label), cost::cost_of(*network, task, kEnergy)});
  };
  const std::string each = fmt::format("each of {:.0f} peers, {} samples", peers, samples);
  const cost::Task alone{.batch = all_samples, .arrays = cost::arrays_of("silent", optimizer, 0)};
  const cost::Task together{.batch = samples,
                            .arrays = cost::arrays_of(algorithm, optimizer, heard),
                            .sent_bytes = sent,
                            .received_bytes = sent};
  add(fmt::format("1 device, {} samples", all_samples), alone, precision);
  add(each, together, precision);
  if (precision != Precision::kFp32) add(each, together, Precision::kFp32);
  panel.measured = measured_by(record, peers);
  return panel;
}

}  // namespace

/// Summary and settings come from files: they may disagree, or name components that this version
/// does not have.
std::optional<CostPanel> cost_panel(const Record& record) {
  // A network is counted as if all of it were trained and sent.
  if (record.config().train_only != "all") return {};
  try {
    return make_panel(record);
  } catch (const InvalidArgument&) {
    return {};
  }
}

}  // namespace hearsay::report
