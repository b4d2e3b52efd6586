#include "hearsay/peer/peer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "hearsay/algorithm/robust/aggregation.h"
#include "hearsay/core/error.h"
#include "hearsay/train/init.h"
#include "hearsay/train/setup.h"

namespace hearsay::peer {

namespace {

constexpr double kPatienceSeconds = 60;  ///< with others, at least
constexpr double kPatienceRounds = 5;    ///< of the slowest of them
constexpr double kLeavingSeconds = 2;
constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint32_t kTriedAtOnce = 4;  ///< by a peer without connections

net::Status status_of(Stage stage) {
  switch (stage) {
    case Stage::kEntering:
      return net::Status::kEntering;
    case Stage::kTraining:
    case Stage::kFinal:
      return net::Status::kTraining;
    case Stage::kFinished:
      return net::Status::kFinished;
    case Stage::kLeaving:
      return net::Status::kLeaving;
    case Stage::kDone:
      break;
  }
  return net::Status::kLeft;
}

}  // namespace

MakeGraph graph_of(const train::RunOptions& options, const train::RunParts& parts) {
  return [graph = options.graph, seed = options.seed, own = parts.schedule](std::size_t peers) {
    const graph::GraphContext context{peers, seed};
    return own ? own(context) : graph::make_schedule(graph, context);
  };
}

WholeGraph whole_graph(const train::RunOptions& options, const train::RunParts& parts) {
  const MakeGraph make = graph_of(options, parts);
  check_any_size(make, options.peers, options.graph);
  const auto schedule = make(options.peers);
  return {.facts = graph::facts_of(*schedule), .hops = hops_across(*schedule)};
}

Peer::Peer(Parts parts)
    : parts_(std::move(parts)),
      seat_({.process = parts_.self,
             .processes = parts_.options.peers,
             .cores = transport::Alone().seat().cores}),
      group_(seat_),
      machine_(std::make_shared<gossip::Machine>(parts_.options.device, parts_.threads, group_)),
      objective_(
          train::make_objective(parts_.options, parts_.own_parts, parts_.options.peers, *machine_)),
      learning_rate_(gossip::make_learning_rate(parts_.options.lr)),
      rounds_(
          train::make_driver_parts(parts_.options, parts_.own_parts, *objective_, *learning_rate_)),
      loss_(kNone),
      score_(kNone) {
  auto schedule = std::make_unique<LiveSchedule>(graph_of(parts_.options, parts_.own_parts),
                                                 parts_.options.peers, parts_.self);
  schedule_ = schedule.get();
  whom_to_know_ = schedule_->neighbours();
  const compress::Compressor& compressor = *rounds_.compressor;
  neighbours_ = std::make_unique<Neighbours>(
      Neighbours::Parts{.peers = static_cast<std::uint32_t>(parts_.options.peers),
                        .self = parts_.self,
                        .incarnation = parts_.incarnation,
                        .hops = parts_.graph.hops,
                        .compressor = compressor,
                        .layout = objective_->layout(),
                        .buffers = objective_->buffer_layout().dim(),
                        .controls = parts_.controls,
                        .names = parts_.names,
                        .log = parts_.log});
  auto delivery = std::make_unique<AsynchronousDelivery>(AsynchronousDelivery::Parts{
      .neighbours = *neighbours_,
      .self = parts_.self,
      .incarnation = parts_.incarnation,
      .compressor = compressor,
      .layout = objective_->layout(),
      .kernels = machine_->kernels(),
      .numerator =
          [this] { return backend::VectorView{driver_->algorithm().numerator().row(0).data()}; },
      .journal = parts_.journal,
      .lie = parts_.lie});
  delivery_ = delivery.get();
  rounds_.schedule = std::move(schedule);
  rounds_.delivery = std::move(delivery);
  rounds_.link = rounds_.liars = "none";
  rounds_.facts = parts_.graph.facts;
  // The driver checks it too, but only once there is a model: that may take others.
  algorithm::check_aggregation(rounds_.robust, {.method = rounds_.method,
                                                .graph_spec = rounds_.graph_name,
                                                .graph = *rounds_.facts,
                                                .schedule = *rounds_.schedule,
                                                .asynchronous = true,
                                                .on_host = machine_->kernels().on_host()});
  training_rounds_ = parts_.options.rounds > 0
                         ? parts_.options.rounds
                         : parts_.options.epochs * objective_->rounds_per_epoch();
  tell();
}

void Peer::enter(std::optional<train::SavedModel> model, std::uint64_t first_round) {
  if (!model && parts_.options.init != "none") {
    model = train::load_init(parts_.options.init, objective_->whole_layout(),
                             objective_->buffer_layout());
    model->parameters = objective_->trained(model->parameters);
    if (model->buffers.empty()) model->buffers = objective_->estimate_buffers(model->parameters);
  }
  if (model && !model->buffers.empty()) objective_->set_buffers(0, model->buffers);
  first_round_ = first_round;
  pace_ = Pace(static_cast<double>(first_round));
  rounds_.first_round = first_round;
  rounds_.initial_model = [this, model = std::move(model)](std::uint32_t peer, std::span<float> x) {
    if (model) {
      std::ranges::copy(model->parameters, x.begin());
    } else {
      objective_->initial_model(peer, x);
    }
  };
  driver_ = std::make_unique<gossip::RoundDriver>(std::move(rounds_), machine_);
  if (parts_.controls.entering_weight != 1) weigh(parts_.controls.entering_weight);
  stage_ = Stage::kTraining;
  tell();
}

/// The same model with another weight: for a control.
void Peer::weigh(double push_sum) {
  backend::StateList list;
  driver_->method_state(list);
  for (const backend::StateList::Item& item : list.items()) {
    if (item.name == "push_sum") *std::get<std::vector<double>*>(item.place) = {push_sum};
    if (item.name != "x") continue;
    backend::Array& x = *std::get<backend::Array*>(item.place);
    for (float& value : x.row(0)) value *= static_cast<float>(push_sum);
  }
  driver_->restored();
}

void Peer::prepare() {
  its_losses_.resize(1);
  objective_->gradients(static_cast<std::uint32_t>(driver_->round()), driver_->models(),
                        driver_->gradient(), its_losses_);
  prepared_ = true;
}

void Peer::run_round() {
  const double now = neighbours_->now();
  look_around(now);
  move_on(now);
  step_ = 0;
  if (stage_ == Stage::kDone) return;
  scale_ =
      parts_.controls.scale && stage_ == Stage::kTraining
          ? neighbours_->members([&](const Members& members) { return pace_.scale(members, now); })
          : 1;
  delivery_->set_scale(scale_);
  const gossip::RoundSettings settings = this->settings();
  gossip::Turn turn{driver_.get(), settings};
  gossip::run_round({&turn, 1}, [&](std::span<const gossip::Turn> begun) {
    if (begun[0].error) return;
    if (begun[0].takes_gradient) {
      if (!prepared_) prepare();
      std::ranges::copy(its_losses_, driver_->losses().begin());
    } else if (!prepared_) {
      objective_->observe(static_cast<std::uint32_t>(driver_->round()), driver_->models());
    }
  });
  prepared_ = false;
  if (turn.error) std::rethrow_exception(turn.error);
  if (turn.takes_gradient) {
    step_ = settings.lr;
    loss_ = static_cast<float>(driver_->ledger().losses()[0]);
  }
  // A round that reached nobody does not count, unless there is nobody.
  const bool alone = schedule_->live().size() == 1;
  if (stage_ == Stage::kFinal && (delivery_->sent_last() > 0 || alone)) {
    ++final_rounds_;
    entered_ = now;
  }
  neighbours_->members([&](const Members& members) { pace_.round(members, now); });
  tell();
}

void Peer::look_around() { look_around(neighbours_->now()); }

void Peer::look_around(double now) {
  const std::vector<std::uint32_t> live =
      neighbours_->members([&](const Members& members) { return members.live(now); });
  std::vector<std::uint32_t> wanted = whom_to_know_;
  if (stage_ == Stage::kLeaving) {
    schedule_->set_live({parts_.self});  // sends to nobody
  } else {
    schedule_->set_live(live);
    const std::vector<std::uint32_t>& more = schedule_->neighbours();
    wanted.insert(wanted.end(), more.begin(), more.end());
  }
  if (live.size() == 1) {  // perhaps all that it is to know are gone, and others are not
    const auto peers = static_cast<std::uint32_t>(parts_.options.peers);
    for (std::uint32_t k = 0; k < kTriedAtOnce; ++k) wanted.push_back((turn_ + k) % peers);
    turn_ = (turn_ + 1) % peers;
  }
  std::ranges::sort(wanted);
  const auto repeated = std::ranges::unique(wanted);
  wanted.erase(repeated.begin(), repeated.end());
  std::erase(wanted, parts_.self);
  neighbours_->want(wanted);
}

void Peer::turn_to(Stage stage, double now) {
  stage_ = stage;
  entered_ = now;
}

void Peer::move_on(double now) {
  if (stage_ == Stage::kTraining && clock() >= static_cast<double>(training_rounds_)) {
    turn_to(Stage::kFinal, now);
  }
  const bool waits = stage_ == Stage::kFinal || stage_ == Stage::kFinished;
  const bool has_waited = waits && now - entered_ > patience(now);
  if (stage_ == Stage::kFinal) {
    const std::uint64_t wanted = driver_->algorithm().final_rounds();
    if (final_rounds_ >= wanted || has_waited) {
      if (final_rounds_ < wanted) {
        log(fmt::format("nobody could be sent to for {:.0f} s: {} of {} final rounds are left out",
                        now - entered_, wanted - final_rounds_, wanted));
      }
      turn_to(Stage::kFinished, now);
      return tell();
    }
  }
  if (stage_ == Stage::kFinished) {
    const bool all = all_have_finished(now);
    if (!all && has_waited) {
      log(fmt::format("leaves, having waited {:.0f} s for others to finish", now - entered_));
    }
    if (all || has_waited) turn_to(Stage::kLeaving, now);
  }
  if (stage_ == Stage::kLeaving && (neighbours_->open() == 0 || now - entered_ > kLeavingSeconds)) {
    turn_to(Stage::kDone, now);
    tell();
  }
}

/// With others, who may need long for a round.
double Peer::patience(double now) const {
  return neighbours_->members([&](const Members& members) {
    double seconds = kPatienceSeconds;
    for (const std::uint32_t peer : members.live(now)) {
      const auto rate = static_cast<double>(members.record(peer).rate);
      if (rate > 0) seconds = std::max(seconds, kPatienceRounds / rate);
    }
    return seconds;
  });
}

void Peer::log(const std::string& what) const {
  if (parts_.log) parts_.log(what);
}

void Peer::leave() {
  if (stage_ == Stage::kLeaving || stage_ == Stage::kDone) return;
  turn_to(Stage::kLeaving, neighbours_->now());
  tell();
}

bool Peer::all_have_finished(double now) const {
  return neighbours_->members([&](const Members& members) {
    return std::ranges::all_of(members.live(now), [&](std::uint32_t peer) {
      return members.record(peer).status == net::Status::kFinished;
    });
  });
}

gossip::RoundSettings Peer::settings() const {
  if (stage_ != Stage::kTraining) {
    const bool has_final_rounds = driver_->algorithm().final_rounds() > 0;
    return {.final = has_final_rounds, .mix_only = true};
  }
  const double rounds_per_epoch = static_cast<double>(objective_->rounds_per_epoch());
  const double lr = learning_rate_->at(clock() / rounds_per_epoch,
                                       static_cast<double>(training_rounds_) / rounds_per_epoch);
  return {.lr = static_cast<float>(lr * scale_ * std::min(1.0, 4 * push_sum()))};
}

double Peer::learning_rate() const {
  const double rounds_per_epoch = static_cast<double>(objective_->rounds_per_epoch());
  return learning_rate_->at(
      std::min(clock(), static_cast<double>(training_rounds_)) / rounds_per_epoch,
      static_cast<double>(training_rounds_) / rounds_per_epoch);
}

void Peer::tell() {
  if (!driver_) return neighbours_->tell({.status = status_of(stage_), .u = 0});
  neighbours_->tell({.status = status_of(stage_),
                     .rounds = driver_->round(),
                     .rate = static_cast<float>(pace_.rate()),
                     .clock = static_cast<float>(clock()),
                     .u = static_cast<float>(push_sum()),
                     .loss = loss_,
                     .accuracy = score_,
                     .bytes = driver_->ledger().traffic().bytes});
}

train::SavedModel Peer::model() const {
  train::SavedModel model{.parameters = std::vector<float>(objective_->layout().dim()),
                          .buffers = objective_->buffers(0)};
  machine_->kernels().download(driver_->models(), 0, model.parameters);
  return model;
}

std::vector<float> Peer::numerator() const {
  std::vector<float> x(objective_->layout().dim());
  machine_->kernels().download(driver_->algorithm().numerator(), 0, x);
  return x;
}

train::PeerReport Peer::evaluate() {
  driver_->drain();
  gossip::Ledger& ledger = driver_->ledger();
  train::PeerReport report{.score = objective_->scores(driver_->models())[0],
                           .push_sum = push_sum(),
                           .totals = ledger.totals(0)};
  const std::uint64_t rounds = ledger.run_totals().loss_rounds;
  report.totals.loss_sum = rounds > 0 ? report.totals.loss_sum / static_cast<double>(rounds)
                                      : ledger.run_totals().last_train_loss;
  ledger.evaluated(report.totals.loss_sum);
  if (!report.score.values.empty()) score_ = static_cast<float>(report.score.values[0]);
  return report;
}

}  // namespace hearsay::peer
