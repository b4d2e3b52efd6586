#include "hearsay/train/trainer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/train/setup.h"

namespace hearsay::train {

Trainer::Trainer(const RunOptions& config, const RunParts& parts)
    : Trainer(config, std::make_shared<gossip::Machine>(config.device, config.threads), parts) {}

Trainer::Trainer(const RunOptions& config, std::shared_ptr<gossip::Machine> machine,
                 const RunParts& parts)
    : machine_(std::move(machine)) {
  if (config.timing != "lock-step") {
    throw InvalidArgument(
        "[timing] a Trainer runs rounds in lock step; asynchronous peers are those of run::run and "
        "of peer::World");
  }
  std::unique_ptr<graph::Schedule> schedule = make_schedule(config, parts);
  rate_ = gossip::make_learning_rate(config.lr);
  objective_ = make_objective(config, parts, schedule->peers(), *machine_);
  const std::vector<float> buffers = start(config.init);
  gossip::DriverParts rounds = make_driver_parts(config, parts, *objective_, *rate_);
  rounds.schedule = std::move(schedule);
  rounds.initial_model = [this](std::uint32_t peer, std::span<float> x) {
    if (init_.empty()) {
      objective_->initial_model(peer, x);
    } else {
      std::ranges::copy(init_, x.begin());
    }
  };
  driver_ = std::make_unique<gossip::RoundDriver>(std::move(rounds), machine_);
  if (config.init == "none") init_ = std::vector<float>();  // the objective makes it again
  if (!buffers.empty()) {
    for (std::size_t i = 0; i < rows(); ++i) objective_->set_buffers(i, buffers);
  }
  training_rounds_ = config.rounds > 0 ? config.rounds : config.epochs * rounds_per_epoch();
  constexpr std::uint64_t kMostRounds = 0xFFFFFFFF;  // random streams number rounds with 32 bits
  if (total_rounds() > kMostRounds) {
    throw InvalidArgument(
        fmt::format("[config] {} rounds are too many; at most {} are possible, use fewer epochs",
                    total_rounds(), kMostRounds));
  }
}

/// Sets the initial model, if it is the same for all peers, and returns the buffers that come with
/// it.
std::vector<float> Trainer::start(const std::string& init) {
  if (init == "none") {
    if (!objective_->starts_alike()) return {};
    init_.resize(layout().dim());
    objective_->initial_model(0, init_);
    return {};
  }
  SavedModel saved = load_init(init, objective_->whole_layout(), objective_->buffer_layout());
  init_ = objective_->trained(saved.parameters);
  if (saved.buffers.empty()) saved.buffers = objective_->estimate_buffers(init_);
  if (const double loss = objective_->evaluate(init_, saved.buffers).loss; !std::isfinite(loss)) {
    throw InvalidArgument(fmt::format(
        "[init] the loss of {} is {}; give a model that was trained on such data", init, loss));
  }
  return saved.buffers;
}

gossip::RoundSettings Trainer::settings(bool measure_mass) const {
  const double rounds_an_epoch = static_cast<double>(rounds_per_epoch());
  const double lr = rate_->at(static_cast<double>(round()) / rounds_an_epoch,
                              static_cast<double>(training_rounds_) / rounds_an_epoch);
  return {.lr = static_cast<float>(lr),
          .final = round() >= training_rounds_,
          .measure_mass = measure_mass};
}

void Trainer::run_round(bool measure_mass) {
  Turn turn{this, measure_mass};
  run_round({&turn, 1});
  if (turn.error) std::rethrow_exception(turn.error);
}

void Trainer::run_round(std::span<Turn> turns) {
  std::vector<gossip::Turn> drivers;
  for (const Turn& turn : turns) {
    drivers.push_back({turn.trainer->driver_.get(), turn.trainer->settings(turn.measure_mass)});
  }
  gossip::run_round(drivers, [&](std::span<const gossip::Turn> begun) {
    std::vector<engine::GradientRequest> requests;
    for (std::size_t k = 0; k < begun.size(); ++k) {
      if (begun[k].error) continue;
      const Trainer& trainer = *turns[k].trainer;
      const gossip::RoundDriver& driver = *trainer.driver_;
      const auto round = static_cast<std::uint32_t>(driver.round());
      if (begun[k].takes_gradient) {
        requests.push_back({.objective = trainer.objective_.get(),
                            .round = round,
                            .at = driver.models(),
                            .out = driver.gradient(),
                            .losses = driver.losses()});
      } else {
        trainer.objective_->observe(round, driver.models());
      }
    }
    if (!requests.empty()) requests.front().objective->gradients_together(requests);
  });
  for (std::size_t k = 0; k < turns.size(); ++k) turns[k].error = drivers[k].error;
}

void Trainer::state(backend::StateList& list) {
  driver_->progress_state(list);
  objective_->state(list);
  driver_->method_state(list);
}

}  // namespace hearsay::train
