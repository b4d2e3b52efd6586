#include "hearsay/peer/world/world.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/core/error.h"

namespace hearsay::peer {

namespace {

constexpr std::uint32_t kPaceStream = 3;  // of Purpose::kLink, see faults.cpp
constexpr double kTickSeconds = 0.1;
constexpr double kGoodbyeSeconds = 1;
/// Gradients computed at a time, however many threads there are: what has been computed must not
/// depend on their number.
constexpr std::size_t kPreparedAtOnce = 16;

void add(const gossip::PeerTotals& more, gossip::PeerTotals& sum) {
  sum.traffic.messages += more.traffic.messages;
  sum.traffic.edge_rounds += more.traffic.edge_rounds;
  sum.traffic.bytes += more.traffic.bytes;
  sum.traffic.paper_bytes += more.traffic.paper_bytes;
  sum.bytes_ahead.resize(std::max(sum.bytes_ahead.size(), more.bytes_ahead.size()), 0);
  for (std::size_t k = 0; k < more.bytes_ahead.size(); ++k) {
    sum.bytes_ahead[k] += more.bytes_ahead[k];
  }
}

}  // namespace

World::World(Parts parts)
    : parts_(std::move(parts)),
      faults_(parse_faults(parts_.options.link, parts_.options.peers)),
      graph_(whole_graph(parts_.options, parts_.own_parts)),
      network_(events_, faults_, parts_.options.peers, parts_.options.seed),
      machine_(parts_.options.device, parts_.options.threads),
      random_(parts_.options.seed, Purpose::kLink, kPaceStream),
      slowness_(slownesses(faults_, parts_.options.peers, parts_.options.seed)),
      victims_(victims(faults_, parts_.options.peers, parts_.options.seed)),
      liars_(gossip::liars_of(parts_.options.liars, parts_.options.peers, parts_.options.seed)),
      lives_(parts_.options.peers) {
  if (!liars_.empty()) {
    algorithm::require_models(
        spec_name(parts_.options.liars),
        parts_.own_parts.method.value_or(algorithm::make_method(parts_.options.algorithm)));
  }
  for (std::uint32_t slot = 0; slot < lives_.size(); ++slot) enter(slot);
  training_rounds_ = lives_[0].peer->training_rounds();
  if (!liars_.empty()) {
    const gossip::LieContext context{.seed = parts_.options.seed,
                                     .scale = gossip::scale_of(lives_[0].peer->model().parameters)};
    lies_ = std::make_unique<gossip::Liars>(parts_.options.liars, lives_.size(), context);
  }
  saved_every_ = std::max<std::uint64_t>(1, training_rounds_ / 20);
}

bool World::step() {
  const auto is_over = [](const Life& life) { return !life.peer || life.done; };
  return !std::ranges::all_of(lives_, is_over) && events_.step();
}

void World::later(double seconds, std::uint32_t slot, std::function<void()> event) {
  events_.after(seconds, [this, slot, life = lives_[slot].incarnation, event = std::move(event)] {
    if (lives_[slot].peer && lives_[slot].incarnation == life) event();
  });
}

void World::enter(std::uint32_t slot) {
  Life& life = lives_[slot];
  ++life.incarnation;
  Peer::Parts parts{.options = parts_.options,
                    .own_parts = parts_.own_parts,
                    .self = slot,
                    .incarnation = life.incarnation,
                    .graph = graph_,
                    .controls = parts_.controls};
  parts.journal = [this](const Movement& movement) { moved(movement); };
  parts.log = [this, slot](const std::string& what) {
    if (parts_.observer != nullptr) parts_.observer->logged(slot, what);
  };
  if (std::ranges::binary_search(liars_, slot)) {
    parts.lie = [this, slot](std::uint32_t round, std::span<float> x, double push_sum) {
      return tell_lie(slot, round, x, push_sum);
    };
  }
  life.peer = std::make_unique<Peer>(std::move(parts));
  life.peer->enter(life.saved, static_cast<std::uint64_t>(clock()));
  life.done = false;
  Neighbours& neighbours = life.peer->neighbours();
  neighbours.use({network_.enter(slot, neighbours, neighbours.limits())});
  ++past_.entries;
  ++living_;
  clocks_ += life.peer->clock();
  expected_u_ += life.peer->push_sum();
  if (parts_.observer != nullptr) parts_.observer->entered(*life.peer);
  tick(slot);
  run_round_after(slot, faults_.compute * slowness_[slot] * random_.uniform());
}

double World::tell_lie(std::uint32_t liar, std::uint32_t round, std::span<float> x,
                       double push_sum) {
  gossip::Knowledge known{.liar = liar, .round = round};
  const std::vector<float> own(x.begin(), x.end());
  known.own = {own, push_sum};
  for (std::uint32_t slot = 0; slot < peers(); ++slot) {
    const Peer* peer = lives_[slot].peer.get();
    if (peer == nullptr || lies_->lies(slot)) continue;
    known.honest.push_back({peer->driver().algorithm().numerator().row(0), peer->push_sum()});
  }
  return lies_->tell(known, x);
}

void World::moved(const Movement& movement) {
  using Kind = Movement::Kind;
  const bool leaves = movement.kind == Kind::kSent || movement.kind == Kind::kPaid;
  outstanding_u_ += (leaves ? 1 : -1) * static_cast<double>(movement.amount) * movement.push_sum;
  const Life& sender = lives_[movement.sender];
  if (movement.kind == Kind::kApplied && sender.peer &&
      sender.incarnation == movement.sender_life) {
    past_.staleness += static_cast<double>(sender.peer->driver().round() - movement.round - 1);
    ++past_.aged;
  }
  if (parts_.observer != nullptr) parts_.observer->moved(movement);
}

void World::die(std::uint32_t slot) {
  Life& life = lives_[slot];
  if (!life.peer || life.done) return;
  if (parts_.observer != nullptr) parts_.observer->died(*life.peer);
  count(*life.peer, past_);
  add(life.peer->ledger().totals(0), life.past);
  ++past_.deaths;
  --living_;
  clocks_ -= life.peer->clock();
  expected_u_ -= life.peer->push_sum();
  network_.leave(slot);
  life.peer.reset();
}

void World::tick(std::uint32_t slot) {
  if (lives_[slot].done) return;
  lives_[slot].peer->neighbours().tick();
  later(kTickSeconds, slot, [this, slot] { tick(slot); });
}

void World::run_round_after(std::uint32_t slot, double seconds) {
  lives_[slot].next_round = now() + seconds;
  later(seconds, slot, [this, slot] { run_round(slot); });
}

/// Gradients of that peer, and of others whose turn is next.
void World::prepare(std::uint32_t slot) {
  std::vector<std::uint32_t> next;
  for (std::uint32_t other = 0; other < peers(); ++other) {
    const Life& life = lives_[other];
    if (life.peer && !life.done && life.peer->wants_gradient()) next.push_back(other);
  }
  const auto when = [&](std::uint32_t other) {
    return std::pair(other == slot ? 0 : lives_[other].next_round, other);
  };
  const std::size_t count = std::min(next.size(), kPreparedAtOnce);
  std::ranges::partial_sort(next, next.begin() + static_cast<std::ptrdiff_t>(count), {}, when);
  machine_.pool().run(count, [&](std::size_t k) { lives_[next[k]].peer->prepare(); });
}

void World::run_round(std::uint32_t slot) {
  Life& life = lives_[slot];
  Peer& peer = *life.peer;
  if (peer.wants_gradient()) prepare(slot);
  clocks_ -= peer.clock();
  peer.run_round();
  clocks_ += peer.clock();
  if (parts_.observer != nullptr) parts_.observer->ran_round(peer);
  if (peer.stage() == Stage::kDone) {
    life.done = true;
    peer.neighbours().leave();
    later(kGoodbyeSeconds, slot, [this, slot] { network_.leave(slot); });
    return;
  }
  const std::uint64_t round = peer.driver().round();
  if (round % saved_every_ == 0 && faults_.back > 0) life.saved = peer.model();
  const double jitter = 0.9 + 0.2 * random_.uniform();
  run_round_after(slot, faults_.compute * slowness_[slot] * jitter);
  meet_faults();
}

/// Whatever is to happen by now: a moment of its own, since peers die in it.
void World::meet_faults() {
  const double part = clock() / static_cast<double>(training_rounds_);
  const auto due = [&](bool& happened, bool planned, double when) {
    if (happened || !planned || part < when) return false;
    happened = true;
    return true;
  };
  if (due(killed_, faults_.kill > 0, faults_.kill_at)) {
    events_.after(0, [this] {
      for (const std::uint32_t slot : victims_) die(slot);
    });
  }
  if (due(returned_, faults_.back > 0, faults_.back)) {
    events_.after(0, [this] {
      for (const std::uint32_t slot : victims_) {
        if (!lives_[slot].peer) enter(slot);
      }
    });
  }
  if (due(cut_, faults_.cut_to > 0, faults_.cut_from)) network_.cut_at(peers() / 2);
  if (due(healed_, faults_.cut_to > 0, faults_.cut_to)) network_.cut_at(0);
}

std::vector<std::optional<train::PeerReport>> World::evaluate() {
  std::vector<std::optional<train::PeerReport>> reports(peers());
  machine_.pool().run(peers(), [&](std::size_t slot) {
    if (lives_[slot].peer) reports[slot] = lives_[slot].peer->evaluate();
  });
  for (std::uint32_t slot = 0; slot < peers(); ++slot) {
    if (!reports[slot]) continue;
    reports[slot]->totals.traffic = {};
    reports[slot]->totals.bytes_ahead.clear();
    add(sent_by(slot), reports[slot]->totals);
  }
  return reports;
}

gossip::PeerTotals World::sent_by(std::uint32_t slot) const {
  gossip::PeerTotals all = lives_[slot].past;
  if (lives_[slot].peer) add(lives_[slot].peer->ledger().totals(0), all);
  return all;
}

double World::mass_drift() const {
  if (!liars_.empty() || parts_.options.robust != "none") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double sum = outstanding_u_;
  for (const Life& life : lives_) {
    if (life.peer) sum += life.peer->push_sum();
  }
  return std::abs(sum - expected_u_) / static_cast<double>(peers());
}

void World::count(const Peer& peer, WorldCounts& counts) {
  const DeliveryCounts& of = peer.counts();
  counts.messages.sent += of.sent;
  counts.messages.skipped += of.skipped;
  counts.messages.applied += of.applied;
  counts.messages.returned += of.returned;
  counts.messages.paid += of.paid;
  counts.rounds += peer.driver().round() - peer.first_round();
}

WorldCounts World::counts() const {
  WorldCounts all = past_;
  for (const Life& life : lives_) {
    if (life.peer) count(*life.peer, all);
  }
  return all;
}

}  // namespace hearsay::peer
