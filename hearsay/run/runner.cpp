#include "hearsay/run/runner.h"

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/sha256.h"
#include "hearsay/run/directory.h"
#include "hearsay/run/summary.h"

namespace hearsay::run {

namespace {

namespace fs = std::filesystem;

/// Identifies the inputs of a checkpoint besides the settings: the samples, and the edges of a
/// graph that is read from a file.
std::string files_hash(const train::RunOptions& config, const train::Trainer& trainer) {
  const bool in_file = config.graph.find("file:") != std::string::npos;
  return (in_file ? trainer.graph_sha256() : "") + trainer.objective().data_sha256();
}

/// A checkpoint contains everything derived from the `init` file, which may no longer exist; but
/// for tensors that are not trained.
train::RunOptions without_init(train::RunOptions config) {
  if (config.train_only == "all") config.init = "none";
  return config;
}

}  // namespace

Runner::Runner(const train::RunOptions& config, fs::path out, Observer& observer,
               std::shared_ptr<gossip::Machine> machine, const train::RunParts& parts)
    : config_(config),
      out_(std::move(out)),
      observer_(observer),
      trainer_(std::make_unique<train::Trainer>(
          checkpoint::has_checkpoints(out_ / "checkpoint") ? without_init(config) : config,
          std::move(machine), parts)),
      checkpoints_(out_ / "checkpoint", config.hash(), files_hash(config, *trainer_), group(),
                   trainer_->placement()),
      metrics_(out_ / "metrics.jsonl", trainer_->objective().metrics()) {
  trainer_->state(state_);
  state_.scalar("metrics_bytes", metrics_bytes_);
  state_.scalar("seconds", seconds_);
  const std::uint64_t training = trainer_->training_rounds();
  evaluate_every_ = config.evaluate;
  if (evaluate_every_ == 0) evaluate_every_ = std::max<std::uint64_t>(1, training / 20);
  checkpoint_every_ = config.checkpoint;
  if (checkpoint_every_ == 0) checkpoint_every_ = evaluate_every_;
}

void Runner::claim() {
  const std::string text = config_.to_toml();
  group().agree([&] {
    if (group().leads()) create_directory(config_, out_, lock_);
  });
  const Bytes written = group().collectives().broadcast(Bytes(text.begin(), text.end()));
  const bool seen = appears(out_ / "config.toml") &&
                    read_file(out_ / "config.toml") == std::string(written.begin(), written.end());
  if (!group().any(!seen)) return;
  group().agree([&] {
    std::error_code error;
    if (group().leads()) fs::remove(out_ / "config.toml", error);
    if (seen) return;
    throw InvalidArgument(fmt::format(
        "[train] there is no {} here; --out must be on a file system that all hosts share",
        out_.string()));
  });
}

void Runner::restore() {
  group().agree([&] {
    if (group().leads()) lock_.take(out_ / "config.toml");
  });
  std::vector<std::string> damaged;
  const auto round = checkpoints_.restore_newest(
      state_, trainer_->kernels(), [this](std::uint64_t saved) { trainer_->restoring(saved); },
      damaged);
  if (round) trainer_->restored();
  group().agree([&] {
    if (!group().leads()) return;
    metrics_.cut(round ? metrics_bytes_ : 0);
    last_ = metrics_.last();
  });
  observer_.resumed(round.value_or(0), damaged);
}

void Runner::start() {
  if (group().leads()) clear_failure(out_);
  observer_.started(*trainer_, config_);
  // A run stopped in a round that is evaluated has not been evaluated there yet.
  const std::uint64_t round = trainer_->round();
  if (is_evaluated(round) && !group().any(last_ && last_->round == round)) evaluate();
}

bool Runner::goes_on() {
  if (outcome_) return false;
  if (trainer_->round() == trainer_->total_rounds()) {
    finish();
  } else if (asked_to_stop()) {
    stop();
  }
  return !outcome_;
}

void Runner::after_round(double seconds) {
  seconds_ += seconds;
  const std::uint64_t round = trainer_->round();
  if (is_evaluated(round)) {
    if (asked_to_stop()) return stop();
    evaluate();
  }
  if (is_saved(round) && is_due(round)) save();
  observer_.progressed(*trainer_);
}

/// Processes synchronize only to evaluate or save, so only there can they stop.
bool Runner::asked_to_stop() const {
  const bool asked = observer_.stop_requested();
  if (group().alone()) return asked;
  const std::uint64_t round = trainer_->round();
  return (is_evaluated(round) || is_saved(round)) && group().any(asked);
}

bool Runner::is_evaluated(std::uint64_t round) const {
  return round % evaluate_every_ == 0 || round == trainer_->training_rounds() ||
         round == trainer_->total_rounds();
}

bool Runner::is_saved(std::uint64_t round) const {
  return round % checkpoint_every_ == 0 || round == trainer_->total_rounds();
}

/// Whether to save after a round that allows it, as decided by rank 0. Models of a few MB are
/// always saved: on a busy disk that may take long, but postponing it would not help.
bool Runner::is_due(std::uint64_t round) const {
  constexpr std::size_t kFew = 4 << 20;  // floats
  if (config_.checkpoint > 0 || round == trainer_->total_rounds()) return true;
  if (trainer_->peers() * trainer_->layout().dim() < kFew) return true;
  const bool due = group().leads() && pace_.due(CheckpointPace::Clock::now());
  return group().alone() ? due : group().any(due);
}

void Runner::evaluate() {
  last_ = trainer_->evaluate();
  if (!group().leads()) return;
  last_->seconds = seconds_;
  metrics_.append(train::to_json_line(*last_, metrics_.size() == 0));
  observer_.evaluated(*trainer_, *last_);
}

void Runner::save() {
  const auto begin = CheckpointPace::Clock::now();
  trainer_->check_finite();  // so that the newest checkpoint is always usable
  if (group().leads()) {
    metrics_.sync();  // a checkpoint must not be durable before the lines that it counts
    metrics_bytes_ = metrics_.size();
  }
  checkpoints_.save(trainer_->round(), state_, trainer_->kernels());
  pace_.saved(begin, CheckpointPace::Clock::now());
}

/// The results of the last evaluation, with rounds, traffic and time up to now.
std::string Runner::summary(const std::string& models_sha256,
                            std::span<const Warning> warnings) const {
  train::Metrics now = last();
  now.round = trainer_->round();
  now.traffic = trainer_->traffic();
  now.seconds = seconds_;
  const ProcessFigures processes = figures_of_processes(*trainer_);
  if (!group().leads()) return "";
  return summarize(*trainer_, config_, now, processes, models_sha256, warnings);
}

void Runner::stop() {
  save();
  outcome_ = {last(), trainer_->round(), summary(trainer_->models_sha256()), false, {}};
}

gossip::NotFinite Runner::failure(const gossip::NotFinite& error) const {
  const Warning warning = warning_of(error, config_);
  if (group().leads()) write_failure(out_, warning);
  return gossip::NotFinite(warning.text());
}

void Runner::save_average() const {
  const std::vector<float> average = trainer_->average_model();
  if (!group().leads()) return;
  save_model(out_, "average", trainer_->objective(), average,
             trainer_->objective().estimate_buffers(average));
}

/// Exports all peers' models, a few at a time: one thread hashes while others write. Returns their
/// SHA-256, as Trainer::models_sha256 does.
std::string Runner::save_peers() const {
  Sha256 sha;
  const std::size_t at_once = trainer_->models_at_once();
  for (std::size_t begin = 0; begin < trainer_->peers(); begin += at_once) {
    const std::size_t count = std::min(at_once, trainer_->peers() - begin);
    std::vector<train::SavedModel> models;
    for (std::size_t i = 0; i < count; ++i) models.push_back(trainer_->fetch_model(begin + i));
    if (!group().leads()) continue;
    trainer_->pool().run(1 + count, [&](std::size_t task) {
      if (task > 0) {
        const train::SavedModel& model = models[task - 1];
        save_model(out_, fmt::format("peer-{}", begin + task - 1), trainer_->objective(),
                   model.parameters, model.buffers);
        return;
      }
      for (const train::SavedModel& model : models) {
        sha.update(model.parameters.data(), model.parameters.size() * sizeof(float));
      }
    });
  }
  return sha.finish_hex();
}

void Runner::finish() {
  trainer_->drain();
  if (group().leads()) fs::create_directories(out_ / "models");
  save_average();
  std::vector<Warning> warnings;
  if (group().leads()) warnings = diagnose(config_, *trainer_, metrics_);
  const std::string text = summary(save_peers(), warnings);
  group().agree([&] {
    if (group().leads()) write_summary(out_, text);
  });
  outcome_ = {last(), trainer_->round(), text, true, std::move(warnings)};
}

}  // namespace hearsay::run
