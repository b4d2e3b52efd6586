#include "hearsay/train/trainer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"
#include "hearsay/engine/objectives.h"

namespace hearsay::train {

using algorithm::Plan;

namespace {

/// Whether a rate is constant, sampled over a run of a thousand epochs.
bool is_constant(const gossip::LearningRate& rate) {
  constexpr double kEpochs = 1000;
  for (double epoch = 0; epoch < kEpochs; epoch += 0.5) {
    if (rate.at(epoch, kEpochs) != rate.at(0, kEpochs)) return false;
  }
  return true;
}

/// A graph that changes every epoch changes every round if an epoch is one round.
graph::Schedule::Change change_of(const graph::Schedule& schedule, std::uint64_t rounds_an_epoch) {
  using Change = graph::Schedule::Change;
  if (schedule.change() != Change::kPhases) return schedule.change();
  const bool at_once =
      schedule.phase(0, 0) != schedule.phase(1, 1 / rounds_an_epoch) &&
      schedule.phase(1, 1 / rounds_an_epoch) != schedule.phase(2, 2 / rounds_an_epoch);
  return at_once ? Change::kEveryRound : Change::kPhases;
}

std::string sha256_of(const std::vector<graph::Weights>& period) {
  Sha256 sha;
  for (const graph::Weights& weights : period) {
    for (const graph::Edge& edge : weights.edges()) {
      sha.update(&edge.sender, sizeof edge.sender);
      sha.update(&edge.receiver, sizeof edge.receiver);
      sha.update(&edge.weight, sizeof edge.weight);
    }
  }
  return sha.finish_hex();
}

transport::Placement placed(std::size_t peers, const gossip::ProcessGroup& group) {
  const transport::Placement placement{peers, group.processes()};
  transport::check_placement(placement);
  return placement;
}

}  // namespace

Trainer::Trainer(const RunOptions& config)
    : Trainer(config, std::make_shared<gossip::Machine>(config.device, config.threads)) {}

Trainer::Trainer(const RunOptions& config, std::shared_ptr<gossip::Machine> machine)
    : machine_(std::move(machine)),
      kernels_(machine_->kernels()),
      everybody_(machine_->group(), placement_, kernels_),
      meter_(machine_->group(), placement_) {
  ThreadPool& pool = machine_->pool();
  const std::uint64_t seed = config.seed;
  schedule_ = graph::make_schedule(config.graph, {config.peers, seed});
  const std::size_t n = schedule_->peers();
  placement_ = placed(n, group());
  first_ = placement_.first(group().rank());
  rows_ = placement_.rows(group().rank());
  facts_ = graph::facts_of(*schedule_);
  graph_sha256_ = sha256_of(schedule_->period());
  schedule_->keep(first_, rows_);
  compressor_ = compress::make_compressor(config.compressor);
  const bool has_init = config.init != "none";
  objective_ = engine::make_objective(config.data, {.peers = n,
                                                    .first = first_,
                                                    .rows = rows_,
                                                    .seed = seed,
                                                    .pool = pool,
                                                    .kernels = kernels_,
                                                    .model = config.model,
                                                    .partition = config.partition,
                                                    .augment = config.augment,
                                                    .validation = config.validation,
                                                    .batch = config.batch,
                                                    .estimates = group().leads() || has_init});

  optimizer_ = gossip::make_optimizer(config.optimizer, kernels_, rows_, layout().dim());
  rate_ = gossip::make_learning_rate(config.lr);
  gossip::Link link(config.link, n, seed);
  if (link.simulated() && !group().alone()) {
    throw InvalidArgument(
        "[link] simulated links need all peers in one process; drop --link, or mpirun");
  }
  ledger_ = std::make_unique<gossip::Ledger>(std::move(link), *schedule_, rounds_per_epoch(),
                                             layout().dim(), first_, rows_);
  algorithm::check_fit(config.algorithm, {.graph_spec = config.graph,
                                          .graph = facts_,
                                          .change = change_of(*schedule_, rounds_per_epoch()),
                                          .compressor_spec = config.compressor,
                                          .compressor = *compressor_,
                                          .layout = layout(),
                                          .linear_optimizer = optimizer_->linear(),
                                          .optimizer_has_momentum = optimizer_->has_momentum(),
                                          .constant_rate = is_constant(*rate_),
                                          .lossy_links = ledger_->link().loss() > 0});
  bank_compressor_ = std::make_unique<algorithm::BankCompressor>(
      *compressor_, layout(), kernels_, pool, seed, static_cast<std::uint32_t>(first_),
      !group().alone());
  algorithm_ = algorithm::make_algorithm(
      config.algorithm,
      {.kernels = kernels_,
       .layout = layout(),
       .compressor = *bank_compressor_,
       .topk_keep = compress::topk_keep(config.compressor),
       .graph = facts_,
       .peers = n,
       .first = first_,
       .rows = rows_,
       .start_of = [this](std::uint32_t peer, std::span<float> x) { start_of(peer, x); }});
  message_exchange_ = std::make_unique<gossip::MessageExchange>(
      gossip::MessageExchange::Parts{.group = group(),
                                     .placement = placement_,
                                     .compressor = *compressor_,
                                     .layout = layout(),
                                     .kernels = kernels_});
  gradient_ = kernels_.allocate(rows_, layout().dim());
  training_rounds_ = config.rounds > 0 ? config.rounds : config.epochs * rounds_per_epoch();
  constexpr std::uint64_t kMostRounds = 0xFFFFFFFF;  // random streams number rounds with 32 bits
  if (total_rounds() > kMostRounds) {
    throw InvalidArgument(
        fmt::format("[config] {} rounds are too many; at most {} are possible, use fewer epochs",
                    total_rounds(), kMostRounds));
  }
  start(config.init);
}

Trainer::~Trainer() {
  try {
    machine_->drain();          // the machine may live on with callbacks that refer to this
  } catch (const RunFailed&) {  // of the device: its next user gets the error
  }
}

void Trainer::start(const std::string& init) {
  std::vector<float> buffers;
  if (init != "none") {
    SavedModel saved = load_init(init, layout(), objective_->buffer_layout());
    init_ = std::move(saved.parameters);
    buffers = saved.buffers.empty() ? objective_->estimate_buffers(init_) : saved.buffers;
  }
  std::vector<float> x(layout().dim());
  for (std::size_t i = 0; i < rows_; ++i) {
    const bool same = i > 0 && (!init_.empty() || objective_->starts_alike());
    if (!same) start_of(static_cast<std::uint32_t>(first_ + i), x);
    kernels_.upload(x, algorithm_->initial(), i);
    if (!buffers.empty()) objective_->set_buffers(i, buffers);
  }
  algorithm_->start();
}

void Trainer::start_of(std::uint32_t peer, std::span<float> x) const {
  if (init_.empty()) {
    objective_->initial_model(peer, x);
  } else {
    std::ranges::copy(init_, x.begin());
  }
}

const graph::Weights& Trainer::weights_of(std::uint64_t round) {
  return schedule_->at(round, round / rounds_per_epoch());
}

void Trainer::meet_senders(std::uint64_t round) {
  const std::uint64_t phase = schedule_->phase(round, round / rounds_per_epoch());
  if (met_phase_ == phase) return;
  met_phase_ = phase;
  algorithm_->meet(message_exchange_->senders(weights_of(round)));
}

std::uint64_t Trainer::total_rounds() const {
  return training_rounds_ + algorithm_->final_rounds();
}

void Trainer::run_round(bool measure_mass) {
  if (const auto request = begin_round(measure_mass))
    objective_->gradients_together({&*request, 1});
  kernels_.submit();
  end_round();
  machine_->end_round();
  check();
}

std::optional<engine::GradientRequest> Trainer::begin_round(bool measure_mass) {
  check();
  const double rounds_an_epoch = static_cast<double>(rounds_per_epoch());
  const auto index = static_cast<std::uint32_t>(round_);
  const bool last_phase = round_ >= training_rounds_;
  meet_senders(round_);
  const double lr = rate_->at(static_cast<double>(round_) / rounds_an_epoch,
                              static_cast<double>(training_rounds_) / rounds_an_epoch);
  plan_ = algorithm_->plan({.index = index,
                            .phase = schedule_->phase(round_, round_ / rounds_per_epoch()),
                            .lr = last_phase ? 0.0f : static_cast<float>(lr),
                            .last_phase = last_phase});
  measure_mass_ = measure_mass;
  outbox_ = {};
  if (plan_.talk == Plan::Talk::kGossip && plan_.send_first) emit();
  if (!plan_.gradient) {
    objective_->observe(index, algorithm_->point());
    return {};
  }
  const std::span<double> losses = kernels_.results<double>(rows_);
  machine_->after_synchronization(
      [this, round = round_, losses] { ledger_->gradient(round, losses); });
  return engine::GradientRequest{.objective = objective_.get(),
                                 .round = index,
                                 .at = algorithm_->point(),
                                 .out = gradient_,
                                 .losses = losses};
}

void Trainer::end_round() {
  meter_.reset();
  kernels_.set_meter(measure_mass_ ? &meter_ : nullptr);
  if (plan_.gradient) step();
  if (plan_.talk == Plan::Talk::kGossip) {
    if (!plan_.send_first) emit();
    gossip();
  } else if (plan_.talk == Plan::Talk::kGlobal) {
    average();
  }
  kernels_.set_meter(nullptr);
  if (measure_mass_) ledger_->drift(meter_.drift());
  ++round_;
  constexpr std::uint64_t kRoundsBetweenChecks = 16;
  if (round_ % kRoundsBetweenChecks == 0) {
    machine_->after_synchronization([this, rounds = round_, norms = norms_of(algorithm_->point())] {
      ledger_->models(rounds, norms);
    });
  }
}

void Trainer::step() {
  optimizer_->direction(algorithm_->numerator(), gradient_);
  machine_->after_synchronization(
      [this, round = round_, norms = norms_of(gradient_)] { ledger_->step(round, norms); });
  // If waiting costs nothing, do not send values that are not finite.
  if (kernels_.lag() == 1 || plan_.reads_losses) drain();
  algorithm_->step(gradient_);
}

void Trainer::emit() {
  algorithm_->emit(outbox_);
  std::vector<algorithm::Lengths> lengths(outbox_.payloads.begin(), outbox_.payloads.end());
  machine_->after_synchronization(
      [this, vectors = std::move(lengths)] { ledger_->emitted(vectors); });
  if (!group().alone()) drain();  // the codes have been waited for, so the results are available
  message_exchange_->send(weights_of(round_), outbox_, algorithm_->push_sum(),
                          static_cast<std::uint32_t>(round_));
}

void Trainer::gossip() {
  const graph::Weights& weights = weights_of(round_);
  const auto index = static_cast<std::uint32_t>(round_);
  algorithm::Delivered arrives;
  if (ledger_->link().loss() > 0) {
    arrives = [&](const graph::Edge& edge) { return ledger_->link().arrives(edge, index); };
  }
  const algorithm::Remote& remote = message_exchange_->receive(weights, outbox_, index);
  algorithm::deliver(weights, first_, outbox_, algorithm_->push_sum(), remote, arrives, exchange_);
  message_exchange_->release();
  algorithm_->mix(exchange_);
  machine_->after_synchronization([this, round = round_, send_first = plan_.send_first] {
    ledger_->gossip(round, send_first);
  });
}

void Trainer::average() {
  const auto losses = ledger_->losses();
  algorithm_->average(everybody_, plan_.reads_losses ? losses : losses.first(0));
  machine_->after_synchronization([this] { ledger_->global(); });
}

std::span<double> Trainer::norms_of(backend::ConstBlock rows) const {
  const std::span<double> norms = kernels_.results<double>(rows_);
  kernels_.squared_norms(rows, norms);
  return norms;
}

void Trainer::drain() const {
  machine_->drain();
  check();
}

void Trainer::check() const {
  if (group().alone()) ledger_->check();
}

void Trainer::check_finite() const {
  machine_->after_synchronization(
      [this, norms = norms_of(algorithm_->point())] { ledger_->models(round_, norms); });
  drain();
  group().agree([this] { ledger_->check(); });
}

void Trainer::state(backend::StateList& list) {
  list.scalar("round", round_);
  ledger_->state(list);
  objective_->state(list);
  algorithm_->state(list);
  optimizer_->state(list);
}

}  // namespace hearsay::train
