#include "hearsay/train/runner.h"

#include <fmt/format.h>

#include "hearsay/train/durable_file.h"
#include "hearsay/train/safetensors.h"
#include "hearsay/train/summary.h"

namespace hearsay::train {

namespace {

namespace fs = std::filesystem;

/// A sentence if the last evaluation is ten times worse than the first one.
std::string divergence_warning(const std::optional<Metrics>& first, const Metrics& last) {
  if (!first) return "";
  const auto worse = [&](const char* key, std::optional<double> start,
                         std::optional<double> now) -> std::string {
    const double before = start.value_or(0);
    if (!now || !(before > 0) || *now <= 10 * before) return "";
    return fmt::format(
        "the run diverged: {} is {:.3g} and was {:.3g} at the start; lower --lr or the "
        "averaging rate eta",
        key, *now, before);
  };
  std::string loss = worse("loss", first->loss, last.loss);
  if (!loss.empty()) return loss;
  return worse("distance_to_optimum", first->distance_to_optimum, last.distance_to_optimum);
}

/// What a checkpoint belongs to besides the settings: the samples, and the edges of a graph that
/// stands in a file.
std::string files_hash(const Config& config, const Simulation& simulation) {
  const bool in_file = config.text("graph").find("file:") != std::string::npos;
  return (in_file ? simulation.graph_sha256() : "") + simulation.objective().data_sha256();
}

/// A checkpoint holds all that came of the file to start from, which may be gone by then.
Config without_init(Config config) {
  config.set("init", "none");
  return config;
}

}  // namespace

Runner::Runner(const Config& config, fs::path out, Observer& observer,
               std::shared_ptr<Machine> machine)
    : config_(config),
      out_(std::move(out)),
      observer_(observer),
      simulation_(std::make_unique<Simulation>(
          has_checkpoints(out_ / "checkpoint") ? without_init(config) : config,
          machine ? std::move(machine) : std::make_shared<Machine>(config))),
      group_(alone_, {.peers = simulation_->peers()}),
      checkpoints_(out_ / "checkpoint", config.hash(), files_hash(config, *simulation_), group_,
                   {.peers = simulation_->peers()}, 0),
      metrics_(out_ / "metrics.jsonl") {
  simulation_->state(state_);
  state_.scalar("metrics_bytes", metrics_bytes_);
  state_.scalar("seconds", seconds_);
  const std::uint64_t training = simulation_->training_rounds();
  evaluate_every_ = config.count("evaluate");
  if (evaluate_every_ == 0) evaluate_every_ = std::max<std::uint64_t>(1, training / 20);
  checkpoint_every_ = config.count("checkpoint");
  if (checkpoint_every_ == 0) checkpoint_every_ = evaluate_every_;
}

void Runner::claim() {
  std::error_code error;
  fs::create_directories(out_, error);
  if (error) {
    throw InvalidArgument(
        fmt::format("[train] cannot create {}: {}", out_.string(), error.message()));
  }
  if (!write_new_file(out_ / "config.toml", config_.to_toml())) throw directory_taken(out_);
}

void Runner::restore() {
  std::vector<std::string> damaged;
  const auto round = checkpoints_.restore_newest(
      state_, simulation_->kernels_for_state(), [](std::uint64_t) {}, damaged);
  if (round) simulation_->restored();
  metrics_.cut(round ? metrics_bytes_ : 0);
  last_ = metrics_.last();
  observer_.resumed(round.value_or(0), damaged);
}

void Runner::start() {
  observer_.started(*simulation_, config_);
  // A run that was stopped in a round to evaluate after has not done so.
  const bool evaluated = last_ && last_->round == simulation_->round();
  if (is_evaluated(simulation_->round()) && !evaluated) evaluate();
}

bool Runner::goes_on() {
  if (outcome_) return false;
  if (simulation_->round() == simulation_->total_rounds()) {
    finish();
  } else if (observer_.stop_requested()) {
    stop();
  }
  return !outcome_;
}

void Runner::after_round(double seconds) {
  seconds_ += seconds;
  const std::uint64_t round = simulation_->round();
  if (is_evaluated(round)) {
    if (observer_.stop_requested()) return stop();
    evaluate();
  }
  if (round % checkpoint_every_ == 0 || round == simulation_->total_rounds()) save();
  observer_.progressed(*simulation_);
}

bool Runner::is_evaluated(std::uint64_t round) const {
  return round % evaluate_every_ == 0 || round == simulation_->training_rounds() ||
         round == simulation_->total_rounds();
}

void Runner::evaluate() {
  last_ = simulation_->evaluate();
  last_->seconds = seconds_;
  metrics_.append(to_json_line(*last_));
  observer_.evaluated(*simulation_, *last_);
}

void Runner::save() {
  simulation_->check_finite();  // so that the newest checkpoint is always one to go on from
  metrics_.sync();              // a checkpoint must not outlive the lines that it counts
  metrics_bytes_ = metrics_.size();
  checkpoints_.save(simulation_->round(), state_, simulation_->kernels_for_state());
}

/// What the last evaluation found, beside rounds, traffic and time until now.
Metrics Runner::figures() const {
  Metrics now = *last_;
  now.round = simulation_->round();
  now.traffic = simulation_->traffic();
  now.seconds = seconds_;
  return now;
}

void Runner::stop() {
  save();
  outcome_ = {*last_, simulation_->round(), summarize(*simulation_, config_, figures()), false, ""};
}

void Runner::save_model(const std::string& name, const std::vector<float>& model,
                        std::span<const float> buffers) const {
  write_safetensors(out_ / "models" / (name + ".safetensors"), simulation_->layout(), model,
                    simulation_->objective().buffer_layout(), buffers);
}

void Runner::finish() {
  simulation_->settle();
  fs::create_directories(out_ / "models");
  const engine::Objective& objective = simulation_->objective();
  const std::vector<float> average = simulation_->average_model();
  save_model("average", average, objective.estimate_buffers(average));
  for (std::size_t i = 0; i < simulation_->peers(); ++i) {
    save_model(fmt::format("peer-{}", i), simulation_->model(i), objective.buffers(i));
  }
  const std::string summary = summarize(*simulation_, config_, figures());
  DurableFile file(out_ / "summary.json");
  file.write(summary);
  file.commit();
  outcome_ = {*last_, simulation_->round(), summary, true,
              divergence_warning(metrics_.first(), *last_)};
}

}  // namespace hearsay::train
