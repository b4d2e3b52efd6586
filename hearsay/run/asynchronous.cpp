#include "hearsay/run/asynchronous.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"
#include "hearsay/run/directory.h"
#include "hearsay/run/summary.h"
#include "hearsay/train/setup.h"

namespace hearsay::run {

namespace {

namespace fs = std::filesystem;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

AsynchronousRun::AsynchronousRun(const train::RunOptions& config, fs::path out, Observer& observer,
                                 const train::RunParts& parts)
    : config_(config),
      out_(std::move(out)),
      observer_(observer),
      world_({.options = config, .own_parts = parts}),
      seat_({.process = 0, .processes = config.peers, .cores = 1}),
      group_(seat_),
      machine_(config.device, config.threads, group_),
      evaluator_(train::make_objective(config, parts, config.peers, machine_)),
      metrics_(out_ / "metrics.jsonl", evaluator_->metrics()) {
  const algorithm::Algorithm& method = world_.peer(0)->driver().algorithm();
  final_rounds_ = method.final_rounds();
  averaging_rate_ = method.averaging_rate();
  evaluate_every_ = config.evaluate;
  if (evaluate_every_ == 0) evaluate_every_ = std::max<std::uint64_t>(1, training_rounds() / 20);
}

Outcome AsynchronousRun::begin() {
  create_directory(config_, out_, lock_);
  return go_on();
}

Outcome AsynchronousRun::begin_again() {
  lock_.take(out_ / "config.toml");
  if (fs::exists(out_ / "summary.json")) {
    throw InvalidArgument(
        fmt::format("[train] the run in {} has finished; hearsay report {} shows it", out_.string(),
                    out_.string()));
  }
  metrics_.cut(0);
  observer_.resumed(0, {});
  return go_on();
}

std::uint64_t AsynchronousRun::round() const {
  const auto clock = static_cast<std::uint64_t>(world_.clock());
  return finished_ ? total_rounds() : std::min(clock, total_rounds());
}

Outcome AsynchronousRun::go_on() {
  try {
    return run_rounds();
  } catch (const gossip::NotFinite& error) {
    const Warning warning = warning_of(error, config_);
    write_failure(out_, warning);
    throw gossip::NotFinite(warning.text());
  }
}

Outcome AsynchronousRun::run_rounds() {
  using Clock = std::chrono::steady_clock;
  clear_failure(out_);
  observer_.started(*this, config_);
  evaluate();
  std::uint64_t next = evaluate_every_;
  Clock::time_point begin = Clock::now();
  const auto measure = [&] {
    seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
  };
  std::uint64_t shown = round();
  while (world_.step()) {
    if (observer_.stop_requested()) {
      measure();
      return {last_.value(), round(), summary(""), false, {}};
    }
    if (round() != shown) observer_.progressed(*this);  // not after every frame
    shown = round();
    if (round() < next || round() >= training_rounds()) continue;
    measure();
    evaluate();
    begin = Clock::now();
    next = (round() / evaluate_every_ + 1) * evaluate_every_;
  }
  measure();
  finished_ = true;
  evaluate();
  return finish();
}

gossip::Traffic AsynchronousRun::traffic() const {
  std::vector<train::PeerReport> reports(peers());
  for (std::uint32_t slot = 0; slot < peers(); ++slot) {
    reports[slot].totals = world_.sent_by(slot);
  }
  return train::total_traffic(reports, 0);
}

bool AsynchronousRun::lies(std::uint32_t slot) const {
  return std::ranges::binary_search(world_.liars(), slot);
}

std::vector<float> AsynchronousRun::average() const {
  std::vector<double> sum(evaluator_->layout().dim());
  double count = 0;
  for (std::uint32_t slot = 0; slot < peers(); ++slot) {
    if (world_.peer(slot) == nullptr || lies(slot)) continue;
    const std::vector<float> model = world_.peer(slot)->model().parameters;
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += static_cast<double>(model[k]);
    ++count;
  }
  std::vector<float> average(sum.size());
  for (std::size_t k = 0; k < sum.size(); ++k) average[k] = static_cast<float>(sum[k] / count);
  return average;
}

void AsynchronousRun::evaluate() {
  const std::vector<float> average = this->average();
  std::vector<train::PeerReport> reports;
  std::vector<bool> counts_in_means;
  std::size_t living = 0;
  std::vector<double> rates;
  double slowest = std::numeric_limits<double>::infinity(), fastest = 0;
  for (auto& report : world_.evaluate()) {
    const auto slot = static_cast<std::uint32_t>(reports.size());
    reports.push_back(report.value_or(train::PeerReport()));
    counts_in_means.push_back(report && !lies(slot));
    rates.push_back(report ? world_.peer(slot)->rate() : kNone);
    if (!report) continue;
    ++living;
    slowest = std::min(slowest, rates.back());
    fastest = std::max(fastest, rates.back());
    const std::vector<float> model = world_.peer(slot)->model().parameters;
    double squares = 0;
    for (std::size_t k = 0; k < model.size(); ++k) {
      const double off = static_cast<double>(model[k]) - static_cast<double>(average[k]);
      squares += off * off;
    }
    reports.back().divergence = std::sqrt(squares);
  }
  const double rounds_per_epoch = static_cast<double>(evaluator_->rounds_per_epoch());
  std::uint32_t any = 0;  // who lives
  while (world_.peer(any) == nullptr) ++any;
  train::RunReport run{
      .round = round(),
      .epoch = static_cast<double>(std::min(round(), training_rounds())) / rounds_per_epoch,
      .lr = world_.peer(any)->learning_rate(),
      .totals = {.dim = average.size(),
                 .loss_rounds = 1,  // each loss_sum is a mean
                 .mass_drift = world_.mass_drift(),
                 .simulated_seconds = world_.now()}};
  train::Metrics now = train::assemble_some(
      reports, counts_in_means, evaluator_->metrics(),
      evaluator_->evaluate(average, evaluator_->estimate_buffers(average)), run);
  now.traffic = traffic();  // also of peers that are dead
  now.seconds = seconds_;
  const peer::WorldCounts counts = world_.counts();
  now.asynchronous = {.live = static_cast<double>(living),
                      .skipped = static_cast<double>(counts.messages.skipped),
                      .taken_back = static_cast<double>(counts.messages.returned),
                      .settled = static_cast<double>(counts.messages.paid),
                      .wire_bytes = static_cast<double>(world_.wire_bytes()),
                      .rates_min = slowest,
                      .rates_max = fastest,
                      .rates = rates};
  const std::uint64_t aged = counts.aged - counts_at_last_.aged;
  if (aged > 0) {
    now.asynchronous.staleness =
        (counts.staleness - counts_at_last_.staleness) / static_cast<double>(aged);
  }
  counts_at_last_ = counts;
  last_ = std::move(now);
  metrics_.append(train::to_json_line(*last_, metrics_.size() == 0));
  observer_.evaluated(*this, *last_);
}

std::string AsynchronousRun::summary(const std::string& models_sha256,
                                     std::span<const Warning> warnings) const {
  train::Metrics now = last_.value();
  now.round = round();
  now.traffic = traffic();
  now.seconds = seconds_;
  return summarize(*this, config_, now, figures_of_this_process(kernels()), models_sha256,
                   warnings);
}

Outcome AsynchronousRun::finish() {
  fs::create_directories(out_ / "models");
  const std::vector<float> average = this->average();
  save_model(out_, "average", *evaluator_, average, evaluator_->estimate_buffers(average));
  Sha256 sha;
  for (std::uint32_t slot = 0; slot < peers(); ++slot) {
    if (world_.peer(slot) == nullptr) continue;
    const train::SavedModel model = world_.peer(slot)->model();
    save_model(out_, fmt::format("peer-{}", slot), *evaluator_, model.parameters, model.buffers);
    sha.update(model.parameters.data(), model.parameters.size() * sizeof(float));
  }
  std::vector<Warning> warnings = diagnose(config_, *this, metrics_);
  const std::string text = summary(sha.finish_hex(), warnings);
  write_summary(out_, text);
  return {*last_, round(), text, true, std::move(warnings)};
}

}  // namespace hearsay::run
