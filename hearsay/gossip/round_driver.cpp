#include "hearsay/gossip/round_driver.h"

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/memory.h"
#include "hearsay/core/sha256.h"
#include "hearsay/gossip/message_exchange.h"

namespace hearsay::gossip {

using algorithm::Plan;

namespace {

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

transport::Placement placed(std::size_t peers, const ProcessGroup& group) {
  const transport::Placement placement{peers, group.processes()};
  transport::check_placement(placement);
  return placement;
}

/// A graph that changes every epoch changes every round if an epoch is one round.
graph::Schedule::Change change_of(const graph::Schedule& schedule, std::uint64_t rounds_per_epoch) {
  using Change = graph::Schedule::Change;
  if (schedule.change() != Change::kPhases) return schedule.change();
  const bool at_once =
      schedule.phase(0, 0) != schedule.phase(1, 1 / rounds_per_epoch) &&
      schedule.phase(1, 1 / rounds_per_epoch) != schedule.phase(2, 2 / rounds_per_epoch);
  return at_once ? Change::kEveryRound : Change::kPhases;
}

/// Everyone sends to everyone: the edges of Plan::Talk::kGather that touch these peers.
graph::Weights complete(std::size_t peers, std::size_t first, std::size_t rows) {
  const double weight = 1.0 / static_cast<double>(peers);
  const auto is_own = [&](std::size_t peer) { return peer - first < rows; };
  std::vector<graph::Edge> edges;
  for (std::uint32_t receiver = 0; receiver < peers; ++receiver) {
    for (std::uint32_t sender = 0; sender < peers; ++sender) {
      if (sender == receiver || !(is_own(sender) || is_own(receiver))) continue;
      edges.push_back({sender, receiver, weight});
    }
  }
  return {peers, std::move(edges)};
}

DriverParts complete_parts(DriverParts parts) {
  if (!parts.schedule) throw InvalidArgument("[rounds] need a schedule; there is none");
  if (!parts.method.make) {
    throw InvalidArgument("[rounds] the method cannot be made: Method::make is empty");
  }
  if (parts.rounds_per_epoch == 0) {
    throw InvalidArgument(
        "[rounds] rounds per epoch must be at least 1, got 0; a batch may be larger than the "
        "samples of a peer");
  }
  if (!parts.compressor) parts.compressor = compress::make_compressor("identity");
  return parts;
}

}  // namespace

RoundDriver::RoundDriver(DriverParts parts)
    : RoundDriver(std::move(parts), std::make_shared<Machine>("cpu", 1)) {}

RoundDriver::RoundDriver(DriverParts parts, std::shared_ptr<Machine> machine)
    : machine_(std::move(machine)),
      kernels_(machine_->kernels()),
      parts_(complete_parts(std::move(parts))),
      placement_(placed(parts_.schedule->peers(), group())),
      first_(placement_.first(group().rank())),
      rows_(placement_.rows(group().rank())),
      facts_(parts_.facts ? *parts_.facts : graph::facts_of(*parts_.schedule)),
      graph_sha256_(sha256_of(parts_.schedule->period())),
      everybody_(group(), placement_, kernels_),
      meter_(group(), placement_),
      round_(parts_.first_round) {
  const bool is_static = parts_.schedule->is_static();
  check_robust();
  parts_.schedule->keep(first_, rows_);
  const std::size_t dim = layout().dim();
  check_memory();
  if (parts_.optimizer) optimizer_ = parts_.optimizer(kernels_, rows_, dim);

  Link link(parts_.link, peers(), parts_.seed);
  if (link.simulated() && !group().alone()) {
    throw InvalidArgument(
        "[link] simulated links need all peers in one process; drop --link, or mpirun");
  }
  if (!parts_.arrives && link.loss() > 0) {
    parts_.arrives = [this](const graph::Edge& edge, std::uint32_t round) {
      return ledger_->link().arrives(edge, round);
    };
  }
  ledger_ = std::make_unique<Ledger>(std::move(link),
                                     Ledger::Shape{.peers = peers(),
                                                   .first = first_,
                                                   .rows = rows_,
                                                   .dim = dim,
                                                   .by_edge = !is_static || !in_lock_step()});

  if (parts_.method.needs) {
    algorithm::check_fit(parts_.method.name, *parts_.method.needs,
                         {.graph_spec = parts_.graph_name,
                          .graph = facts_,
                          .change = change_of(*parts_.schedule, parts_.rounds_per_epoch),
                          .compressor_spec = parts_.compressor_name,
                          .compressor = *parts_.compressor,
                          .layout = layout(),
                          .linear_optimizer = !optimizer_ || optimizer_->linear(),
                          .optimizer_has_momentum = optimizer_ && optimizer_->has_momentum(),
                          .constant_rate = parts_.constant_rate,
                          .lossy_links = parts_.arrives || !in_lock_step(),
                          .asynchronous = !in_lock_step()});
  }
  bank_compressor_ =
      compress::make_bank_compressor({.kernels = kernels_,
                                      .compressor = *parts_.compressor,
                                      .layout = layout(),
                                      .pool = machine_->pool(),
                                      .seed = parts_.seed,
                                      .first = static_cast<std::uint32_t>(first_),
                                      .encodes = !group().alone() || parts_.delivery});
  algorithm_ = parts_.method.make(
      {.kernels = kernels_,
       .layout = layout(),
       .compressor = *bank_compressor_,
       .graph = facts_,
       .peers = peers(),
       .first = first_,
       .rows = rows_,
       .irregular = parts_.arrives || parts_.delivery || !conserves_mass(),
       .start_of = [this](std::uint32_t peer, std::span<float> x) { start_of(peer, x); }});
  if (!parts_.delivery) {
    parts_.delivery =
        std::make_unique<MessageExchange>(MessageExchange::Parts{.group = group(),
                                                                 .placement = placement_,
                                                                 .compressor = *parts_.compressor,
                                                                 .layout = layout(),
                                                                 .kernels = kernels_,
                                                                 .arrives = parts_.arrives});
  }
  gradient_ = kernels_.allocate(rows_, dim);
  start();
}

/// Before the first array of all rows is allocated. Counts the model, the gradient and what the
/// method keeps, not the optimizer's: at least so much is needed.
void RoundDriver::check_memory() const {
  if (!kernels_.on_host()) return;
  std::size_t arrays = 2;
  if (algorithm::registry().contains(parts_.method.name)) {
    const algorithm::Footprint footprint = algorithm::registry().find(parts_.method.name).footprint;
    arrays += footprint.kept + (footprint.public_copies ? 1 : 0);
  }
  require_memory(4 * static_cast<double>(arrays * rows_) * static_cast<double>(layout().dim()),
                 parts_.method.name,
                 fmt::format("{} arrays of {} parameters at each of {} peers: take a smaller "
                             "--model or fewer --peers",
                             arrays, layout().dim(), rows_));
}

/// Makes what stands between a message and the method: lies, and what receivers do against them.
void RoundDriver::check_robust() {
  algorithm::check_aggregation(parts_.robust, {.method = parts_.method,
                                               .graph_spec = parts_.graph_name,
                                               .graph = facts_,
                                               .schedule = *parts_.schedule,
                                               .asynchronous = !in_lock_step(),
                                               .on_host = kernels_.on_host()});
  aggregation_ = algorithm::make_aggregation(
      parts_.robust,
      {.pool = machine_->pool(), .dim = layout().dim(), .asynchronous = !in_lock_step()});
  if (parts_.liars == "none") return;
  const std::string_view name = spec_name(parts_.liars);
  algorithm::require_models(name, parts_.method);
  if (!group().alone() || !kernels_.on_host() || !in_lock_step()) {
    throw InvalidArgument(fmt::format(
        "[{}] simulated liars need all peers in one process on the cpu; drop --liars, or mpirun "
        "and --device",
        name));
  }
  std::vector<float> start(layout().dim());
  start_of(0, start);
  liars_ = std::make_unique<Liars>(parts_.liars, peers(),
                                   LieContext{.seed = parts_.seed, .scale = scale_of(start)});
  const bool push_sum = !parts_.method.needs ||
                        parts_.method.needs->graph == algorithm::Needs::Graph::kColumnStochastic;
  if (liars_->overstates() && !push_sum) {
    throw InvalidArgument(
        fmt::format("[{}] weight is that of push-sum, and {} has none; drop weight, or use sgp",
                    name, parts_.method.name));
  }
}

RoundDriver::~RoundDriver() {
  try {
    machine_->drain();          // the machine may live on with callbacks that refer to this
  } catch (const RunFailed&) {  // of the device: its next user gets the error
  }
  parts_.delivery.reset();  // it may still be sending rows of the algorithm
}

void RoundDriver::start() {
  std::vector<float> x(layout().dim());
  for (std::size_t i = 0; i < rows_; ++i) {
    start_of(static_cast<std::uint32_t>(first_ + i), x);
    kernels_.upload(x, algorithm_->initial(), i);
  }
  algorithm_->start();
}

void RoundDriver::start_of(std::uint32_t peer, std::span<float> x) const {
  std::ranges::fill(x, 0.0f);
  if (parts_.initial_model) parts_.initial_model(peer, x);
}

graph::Weights RoundDriver::weights_of(std::uint64_t round) {
  return parts_.schedule->at(round, round / parts_.rounds_per_epoch);
}

void RoundDriver::meet_senders(std::uint64_t round) {
  const std::uint64_t phase = parts_.schedule->phase(round, round / parts_.rounds_per_epoch);
  if (met_phase_ == phase) return;
  met_phase_ = phase;
  algorithm_->meet(parts_.delivery->senders(weights_of(round)));
}

void RoundDriver::run_round(const RoundSettings& settings, const std::function<void()>& gradients) {
  Turn turn{this, settings};
  begin_round({&turn, 1});
  if (turn.takes_gradient) {
    if (gradients) {
      gradients();
    } else {
      kernels_.fill(0.0f, gradient_);
      std::ranges::fill(losses_, 0.0);
    }
  }
  end_round({&turn, 1});
  if (turn.error) std::rethrow_exception(turn.error);
}

bool RoundDriver::begin(const RoundSettings& settings) {
  check();
  meet_senders(round_);
  plan_ =
      algorithm_->plan({.index = static_cast<std::uint32_t>(round_),
                        .phase = parts_.schedule->phase(round_, round_ / parts_.rounds_per_epoch),
                        .lr = settings.final ? 0.0f : settings.lr,
                        .last_phase = settings.final});
  if (settings.mix_only) plan_.gradient = false;
  measure_mass_ = settings.measure_mass && conserves_mass();
  outbox_ = {};
  if (plan_.talk == Plan::Talk::kGossip) weights_ = weights_of(round_);
  if (plan_.talk == Plan::Talk::kGather) {
    if (!all_to_all_) all_to_all_ = complete(peers(), first_, rows_);
    weights_ = *all_to_all_;
  }
  if (plan_.gossips() && plan_.send_first) emit();
  if (plan_.gradient) losses_ = kernels_.results<double>(rows_);
  return plan_.gradient;
}

void RoundDriver::record_losses() {
  if (!plan_.gradient) return;
  machine_->after_synchronization(
      [this, round = round_, losses = losses_] { ledger_->gradient(round, losses); });
}

void RoundDriver::end() {
  const struct MeterOff {
    backend::Kernels& kernels;
    ~MeterOff() { kernels.set_meter(nullptr); }
  } meter_off{kernels_};
  meter_.reset();
  kernels_.set_meter(measure_mass_ ? &meter_ : nullptr);
  if (plan_.gradient) step();
  if (plan_.gossips()) {
    if (!plan_.send_first) emit();
    mix();
  } else if (plan_.talk == Plan::Talk::kGlobal) {
    average();
  }
  kernels_.set_meter(nullptr);
  if (measure_mass_) ledger_->drift(meter_.drift());
  ++round_;
  constexpr std::uint64_t kRoundsBetweenChecks = 16;
  if (round_ % kRoundsBetweenChecks == 0) {
    machine_->after_synchronization(
        [this, rounds = round_, norms = norms_of(models())] { ledger_->models(rounds, norms); });
  }
}

void RoundDriver::step() {
  if (optimizer_) optimizer_->direction(algorithm_->numerator(), gradient_);
  machine_->after_synchronization(
      [this, round = round_, norms = norms_of(gradient_)] { ledger_->step(round, norms); });
  // If waiting costs nothing, do not send values that are not finite.
  if (kernels_.lag() == 1 || plan_.reads_losses) drain();
  algorithm_->step(gradient_);
}

void RoundDriver::emit() {
  algorithm_->emit(outbox_);
  std::vector<compress::Lengths> lengths(outbox_.payloads.begin(), outbox_.payloads.end());
  machine_->after_synchronization(
      [this, vectors = std::move(lengths)] { ledger_->emitted(vectors); });
  check_outbox();
  if (!in_lock_step()) {  // nobody notices later: the rounds of others go on
    machine_->after_synchronization(
        [this, norms = norms_of(algorithm_->numerator())] { ledger_->models(round_, norms); });
  }
  if (!group().alone()) drain();  // the codes have been waited for, so the results are available
  parts_.delivery->send(weights_, static_cast<std::uint32_t>(round_), outbox_,
                        algorithm_->push_sum());
}

/// An algorithm of the caller may be wrong.
void RoundDriver::check_outbox() const {
  constexpr std::size_t kMostVectors = 2;  // kinds of messages (compress/code/message.h)
  const auto fits = [this](const compress::Payload& payload) {
    return payload.rows.size() == rows_ || payload.codes.size() == rows_;
  };
  const std::size_t count = outbox_.payloads.size();
  if (count > 0 && count <= kMostVectors && std::ranges::all_of(outbox_.payloads, fits)) return;
  throw InvalidArgument(
      fmt::format("[{}] must send one or two vectors for each of its {} peers in a round that "
                  "gossips, sent {}; or plan a silent round",
                  parts_.method.name, rows_, count));
}

void RoundDriver::mix() {
  parts_.delivery->receive(weights_, static_cast<std::uint32_t>(round_), outbox_,
                           algorithm_->push_sum(),
                           [this](const algorithm::Exchange& arrived) { mix(arrived); });
  machine_->after_synchronization(
      [this, weights = parts_.delivery->sent(weights_), send_first = plan_.send_first] {
        ledger_->gossip(weights, send_first);
      });
}

void RoundDriver::mix(const algorithm::Exchange& arrived) {
  if (conserves_mass()) return algorithm_->mix(arrived);
  algorithm::Exchange exchange = arrived;
  if (exchange.sender.size() != exchange.vectors[0].size()) {
    throw InvalidArgument(
        fmt::format("[{}] must know whose vectors arrive; fill Exchange::sender in the Delivery",
                    spec_name(aggregation_ ? parts_.robust : parts_.liars)));
  }
  if (liars_) {
    liars_->rewrite(static_cast<std::uint32_t>(round_), exchange, machine_->pool(), layout().dim());
  }
  if (aggregation_) aggregation_->rewrite(exchange);
  algorithm_->mix(exchange);
}

void RoundDriver::average() {
  const auto losses = ledger_->losses();
  algorithm_->average(everybody_, plan_.reads_losses ? losses : losses.first(0));
  machine_->after_synchronization([this] { ledger_->global(); });
}

std::span<double> RoundDriver::norms_of(backend::ConstBlock rows) const {
  const std::span<double> norms = kernels_.results<double>(rows_);
  kernels_.squared_norms(rows, norms);
  return norms;
}

void RoundDriver::drain() const {
  machine_->drain();
  check();
}

void RoundDriver::check() const {
  if (group().alone() || !in_lock_step()) ledger_->check();
}

void RoundDriver::check_finite() const {
  machine_->after_synchronization(
      [this, norms = norms_of(models())] { ledger_->models(round_, norms); });
  drain();
  group().agree([this] { ledger_->check(); });
}

void RoundDriver::progress_state(backend::StateList& list) {
  list.scalar("round", round_);
  ledger_->state(list);
}

void RoundDriver::method_state(backend::StateList& list) {
  algorithm_->state(list);
  if (optimizer_) optimizer_->state(list);
}

}  // namespace hearsay::gossip
