#include "hearsay/run/summary.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/utf8.h"
#include "hearsay/core/version.h"
#include "hearsay/gossip/liars/liars.h"
#include "hearsay/model/network.h"
#include "hearsay/train/metric_list.h"

namespace hearsay::run {

namespace {

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

/// "2026-11-19T23:58:00Z".
std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&now, &parts) == nullptr) return "";
  return {text.data(), std::strftime(text.data(), text.size(), "%FT%TZ", &parts)};
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "";
  return escape_non_utf8(name.data());
}

ProcessFigures figures_of_processes(const train::Trainer& trainer) {
  Bytes mine;
  append(mine, peak_rss_bytes());
  append(mine, trainer.seconds_waited());
  const std::string isa = trainer.kernels().isa();
  mine.insert(mine.end(), isa.begin(), isa.end());
  ProcessFigures all{.processes = trainer.group().processes(),
                     .transport = std::string(trainer.group().transport().name())};
  std::vector<std::string> isas;
  for (const Bytes& bytes : trainer.group().collectives().gather(mine)) {
    ByteReader reader(bytes, "figures of a process");
    all.peak_rss_bytes = std::max(all.peak_rss_bytes, reader.read<std::uint64_t>());
    all.seconds_waited += reader.read<double>() / static_cast<double>(trainer.group().processes());
    const ByteView rest = reader.take(reader.left());
    const std::string its_isa(rest.begin(), rest.end());
    if (std::ranges::find(isas, its_isa) == isas.end()) isas.push_back(its_isa);
  }
  all.isa = fmt::format("{}", fmt::join(isas, ", "));
  return all;
}

ProcessFigures figures_of_this_process(const backend::Kernels& kernels) {
  return {.transport = "alone", .peak_rss_bytes = peak_rss_bytes(), .isa = kernels.isa()};
}

std::string summarize(const train::RunView& run, const train::RunOptions& config,
                      const train::Metrics& m, const ProcessFigures& processes,
                      const std::string& models_sha256, std::span<const Warning> warnings) {
  nlohmann::ordered_json s;
  const auto add = [&](const std::string& key, const std::optional<double>& value) {
    if (value) s[key] = *value;
  };
  const double edge_rounds = static_cast<double>(std::max<std::uint64_t>(m.traffic.edge_rounds, 1));
  const double rounds = static_cast<double>(std::max<std::uint64_t>(m.round, 1));
  s["peers"] = run.peers();
  s["dim"] = run.objective().layout().dim();
  s["rounds"] = m.round;
  s["training_rounds"] = run.training_rounds();
  s["epochs"] = m.epoch;
  for (const train::MetricResult& result : m.results) {
    const engine::MetricKeys keys = engine::keys_of(result.metric);
    add(keys.mean, result.mean);
    add(keys.min, result.min);
    add(keys.max, result.max);
    add(keys.averaged, result.averaged);
  }
  add("validation_loss", m.validation_loss);
  add("validation_loss_of_average", m.validation_loss_of_average);
  for (const train::MetricResult& result : m.results) {
    const engine::MetricKeys keys = engine::keys_of(result.metric);
    add(keys.validation_mean, result.validation_mean);
    add(keys.validation_averaged, result.validation_averaged);
  }
  s["train_loss"] = m.train_loss;
  s["loss"] = m.loss;
  s["loss_of_average"] = m.loss_of_average;
  s["divergence"] = m.divergence;
  s["divergence_per_dim"] = m.divergence_per_dim;
  s["averaging_rate"] = run.averaging_rate();
  s["bytes_total"] = m.traffic.bytes;
  s["global_bytes_total"] = m.traffic.global_bytes;
  s["messages_total"] = m.traffic.messages;
  if (!m.traffic.bytes_by_peer.empty()) s["bytes_by_peer"] = m.traffic.bytes_by_peer;
  for (const gossip::EdgeBytes& edge : m.traffic.bytes_by_edge) {
    s["bytes_by_edge"].push_back({edge.sender, edge.receiver, edge.bytes});
  }
  s["bytes_per_edge_round"] = static_cast<double>(m.traffic.bytes) / edge_rounds;
  s["paper_bytes_per_edge_round"] = static_cast<double>(m.traffic.paper_bytes) / edge_rounds;
  if (m.traffic.bytes > 0) {
    s["compression_factor"] = 4 * static_cast<double>(run.objective().layout().dim()) *
                              edge_rounds / static_cast<double>(m.traffic.bytes);
  }
  s["mass_drift"] = m.mass_drift;
  s["push_sum_min"] = m.push_sum_min;
  s["push_sum_max"] = m.push_sum_max;
  add("simulated_seconds", m.simulated_seconds);
  s["seconds"] = m.seconds;
  s["seconds_per_round"] = m.seconds / rounds;
  s["samples_per_second"] = m.seconds > 0 ? rounds * static_cast<double>(run.objective().batch()) *
                                                static_cast<double>(run.peers()) / m.seconds
                                          : 0.0;
  s["batch"] = run.objective().batch();
  if (const model::Network* network = run.objective().network()) {
    s["input"] = to_string(network->shape(network->input()));
    s["outputs"] = network->outputs();
    if (config.task != "regression") s["classes"] = network->outputs();
  }
  s["processes"] = processes.processes;
  s["transport"] = processes.transport;
  s["seconds_waited"] = processes.seconds_waited;
  s["peak_rss_bytes"] = processes.peak_rss_bytes;
  s["device"] = run.kernels().device();
  s["isa"] = processes.isa;
  s["precision"] = backend::name_of(run.kernels().precision());
  s["threads"] = run.threads();
  if (const auto counts = run.objective().class_counts(); !counts.empty()) {
    s["class_counts"] = counts;
  }
  if (const auto scale = run.objective().target_scale(); !scale.mean.empty()) {
    s["target_mean"] = scale.mean;
    s["target_deviation"] = scale.deviation;
  }
  // Read from files, so in any encoding.
  for (const std::string& name : run.objective().class_names()) {
    s["class_names"].push_back(escape_non_utf8(name));
  }
  s["metrics"] = nlohmann::ordered_json::parse(train::describe(run.objective().metrics()));
  if (!warnings.empty()) s["warnings"] = nlohmann::ordered_json::parse(to_json(warnings));
  if (config.liars != "none") {
    s["liars"] = gossip::liars_of(config.liars, run.peers(), config.seed);
  }
  s["seed"] = config.seed;
  s["config_hash"] = config.hash();
  s["models_sha256"] = models_sha256;
  s["version"] = version();
  s["ended"] = time_now();
  s["host"] = host_name();
  return s.dump(2) + "\n";
}

}  // namespace hearsay::run
