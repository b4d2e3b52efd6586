#include "hearsay/report/page/cost_panel.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/model/models.h"

namespace hearsay::report {

namespace {

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
  panel.devices.push_back(
      {fmt::format("1 device, {} samples", all_samples),
       cost::cost_of(*network,
                     {.batch = all_samples, .arrays = cost::arrays_of("silent", optimizer, 0)},
                     kEnergy)});
  panel.devices.push_back({fmt::format("each of {:.0f} peers, {} samples", peers, samples),
                           cost::cost_of(*network,
                                         {.batch = samples,
                                          .arrays = cost::arrays_of(algorithm, optimizer, heard),
                                          .sent_bytes = sent,
                                          .received_bytes = sent},
                                         kEnergy)});
  return panel;
}

}  // namespace

/// Summary and settings come from files: they may disagree, or name components that this version
/// does not have.
std::optional<CostPanel> cost_panel(const Record& record) {
  try {
    return make_panel(record);
  } catch (const InvalidArgument&) {
    return {};
  }
}

}  // namespace hearsay::report
