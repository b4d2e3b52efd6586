#include "hearsay/peer/host.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "hearsay/core/sha256.h"
#include "hearsay/data/partition.h"

namespace hearsay::peer {

namespace {

constexpr std::string_view kProtocol = "hearsay/1";
constexpr double kHostTickSeconds = 0.1;
constexpr double kLookSeconds = 0.02;        ///< between two looks at the fleet, before it enters
constexpr double kAloneSeconds = 5;          ///< for others, with a model of its own
constexpr double kUntoldSeconds = 2;         ///< for the first pulse of who is connected
constexpr double kModelSeconds = 15;         ///< for the next piece of a model
constexpr double kIdleSeconds = 0.05;        ///< a round of a peer that never trained
constexpr double kFinishedSeconds = 0.25;    ///< a round of one that waits for others to finish
constexpr double kMostIdleSeconds = 1;       ///< a round without a gradient
constexpr double kLongestNapSeconds = 0.05;  ///< a stop is noticed in between

void sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace

std::array<std::byte, 32> run_id(const train::RunOptions& options,
                                 const engine::Objective& objective) {
  Sha256 sha;
  const auto add = [&](std::string_view line) {
    sha.update(line.data(), line.size());
    sha.update("\n", 1);
  };
  add(kProtocol);
  train::RunOptions common = options;
  common.device = train::RunOptions().device;  // these may differ: a GPU here, a small board there
  common.precision = train::RunOptions().precision;
  common.robust = train::RunOptions().robust;  // how a device protects itself is its own affair
  if (const auto at = common.init.rfind("sha256="); at != std::string::npos) {
    common.init = common.init.substr(at);  // wherever the file is
  }
  // Samples are known by their hash, wherever their files are; own ones are nobody's business.
  std::string data = objective.data_sha256();
  if (!data.empty()) common.data = train::RunOptions().data;
  if (options.partition == data::kOwnPartition) data.clear();
  add(common.hash());
  for (const Layout* layout : {&objective.layout(), &objective.buffer_layout()}) {
    for (const Segment& segment : layout->segments()) {
      add(fmt::format("{} {}", segment.name, segment.size));
    }
  }
  add(data);
  const auto digest = sha.finish();
  std::array<std::byte, 32> id{};
  std::memcpy(id.data(), digest.data(), id.size());
  return id;
}

Host::Host(Parts parts)
    : parts_(std::move(parts)), graph_(whole_graph(parts_.options, parts_.own_parts)) {
  peer_ = std::make_unique<Peer>(Peer::Parts{.options = parts_.options,
                                             .own_parts = parts_.own_parts,
                                             .self = parts_.self,
                                             .incarnation = parts_.incarnation,
                                             .graph = graph_,
                                             .threads = parts_.options.threads,
                                             .names = parts_.names,
                                             .log = parts_.log});
  if (parts_.saved) model_ = parts_.saved(peer_->objective());
  Neighbours& neighbours = peer_->neighbours();
  connection_ = parts_.connect(neighbours);
  neighbours.use({.wire = *connection_.wire,
                  .run = run_id(parts_.options, peer_->objective()),
                  .port = connection_.port});
}

Host::~Host() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stopping_.notify_all();
  if (ticker_.joinable()) ticker_.join();
  connection_.wire.reset();
}

void Host::tick_until_stopped() {
  std::unique_lock lock(mutex_);
  const auto tick = std::chrono::duration<double>(kHostTickSeconds);
  while (!stopping_.wait_for(lock, tick, [&] { return stopped_; })) {
    lock.unlock();
    peer_->neighbours().tick();
    lock.lock();
  }
}

void Host::log(const std::string& what) const {
  if (parts_.log) parts_.log(what);
}

bool Host::enter() {
  if (connection_.start) connection_.start();
  ticker_ = std::thread([this] { tick_until_stopped(); });
  const double begin = peer_->neighbours().now();
  bool told = false;
  while (!stop_requested()) {
    peer_->look_around();
    const Others others = look();
    const double waited = peer_->neighbours().now() - begin;
    if (try_to_enter(others, waited)) return true;
    if (!told && waited > 1) {
      told = true;
      log(others.connected.empty() ? "waits for the first of its neighbours"
                                   : fmt::format("waits for {} peers; {} are here", parts_.wait_for,
                                                 1 + others.connected.size()));
    }
    sleep(kLookSeconds);
  }
  left_ = true;
  peer_->neighbours().leave();
  return false;
}

Host::Others Host::look() const {
  const Neighbours& neighbours = peer_->neighbours();
  Others others{.connected = neighbours.connected()};
  const double now = neighbours.now();
  double rates = 0, ages = 0;
  neighbours.members([&](const Members& members) {
    for (const std::uint32_t peer : others.connected) {
      others.known = others.known && members.record(peer).beat > 0;
    }
    for (const std::uint32_t peer : members.live(now)) {
      // Who has only said hello may be entering too.
      if (peer == parts_.self || members.record(peer).beat == 0) continue;
      others.training.push_back(peer);
      others.clock += static_cast<double>(members.record(peer).clock);
      rates += static_cast<double>(members.record(peer).rate);
      ages += members.age(peer, now);
    }
    return 0;
  });
  if (others.training.empty()) return others;
  const auto count = static_cast<double>(others.training.size());
  constexpr double kMostRounds = 1e15;  // whatever a record claims
  others.clock = std::min(kMostRounds, (others.clock + rates / count * ages) / count);
  return others;
}

bool Host::try_to_enter(const Others& others, double waited) {
  if (!others.known && waited < kUntoldSeconds) return false;
  const auto begin = [&](double clock) {  // with its model, or with the initial one
    peer_->enter(std::move(model_), static_cast<std::uint64_t>(clock));
    model_.reset();
    return true;
  };
  if (others.training.empty()) {
    const std::size_t here = 1 + others.connected.size();
    if (model_) {
      const bool enough = here > 1 || waited >= kAloneSeconds;
      return enough && begin(parts_.clock);
    }
    const std::size_t wanted = std::min<std::size_t>(parts_.wait_for, parts_.options.peers);
    return here >= wanted && begin(0);
  }
  if (model_) return begin(std::max(parts_.clock, others.clock));
  if (others.clock < 1) return begin(0);
  return fetch_model(others) && begin(others.clock);
}

/// Asks for a model, one neighbour after the other until one sends all of it.
bool Host::fetch_model(const Others& others) {
  Neighbours& neighbours = peer_->neighbours();
  const double now = neighbours.now();
  if (const auto values = neighbours.take_model()) {
    if (std::ranges::all_of(*values, [](float value) { return std::isfinite(value); })) {
      model_ = split(*values);
      return true;
    }
    log("a model that it was sent is not finite; it asks another peer");
  }
  const auto [source, received] = neighbours.models(
      [](const ModelExchange& models) { return std::pair(models.source(), models.received()); });
  if (received != received_) progressed_ = now;
  received_ = received;
  if (source && now - progressed_ < kModelSeconds) return false;
  std::vector<std::uint32_t> whom;
  std::ranges::set_intersection(others.training, others.connected, std::back_inserter(whom));
  if (whom.empty()) return false;
  const std::uint32_t next = whom[turn_++ % whom.size()];
  if (!neighbours.ask_for_model(next)) return false;
  progressed_ = now;
  received_ = 0;
  log(fmt::format("asks {} for its model: the fleet is at round {:.0f}",
                  parts_.names.empty() ? fmt::format("peer {}", next) : parts_.names[next],
                  others.clock));
  return false;
}

train::SavedModel Host::split(const std::vector<float>& values) const {
  const auto dim = static_cast<std::ptrdiff_t>(peer_->objective().layout().dim());
  train::SavedModel model;
  model.parameters.assign(values.begin(), values.begin() + dim);
  model.buffers.assign(values.begin() + dim, values.end());
  return model;
}

bool Host::step() {
  if (peer_->stage() == Stage::kDone) return false;
  if (!left_ && peer_->stage() != Stage::kLeaving && stop_requested()) {
    left_ = true;
    peer_->leave();
  }
  const Neighbours& neighbours = peer_->neighbours();
  const double begin = neighbours.now();
  peer_->run_round();
  serve();
  if (peer_->stage() == Stage::kDone) {
    peer_->neighbours().leave();
    return false;
  }
  double least = parts_.least_round;
  if (peer_->stage() == Stage::kTraining) {
    training_interval_ = peer_->rate() > 0 ? 1 / peer_->rate() : 0;
  } else {  // without a gradient: not as fast as it can, which would be for nothing
    const double idle = peer_->stage() == Stage::kFinished ? kFinishedSeconds
                        : training_interval_ > 0           ? training_interval_
                                                           : kIdleSeconds;
    least = std::max(least, std::min(idle, kMostIdleSeconds));
  }
  pause(begin + least - neighbours.now());
  return true;
}

/// Gives its model to those that enter.
void Host::serve() {
  Neighbours& neighbours = peer_->neighbours();
  if (!neighbours.model_is_wanted()) return;
  const train::SavedModel model = peer_->model();
  neighbours.hand_over_model(model.parameters, model.buffers);
}

void Host::pause(double seconds) const {
  const double end = peer_->neighbours().now() + seconds;
  for (double left = seconds; left > 0 && (left_ || !stop_requested());
       left = end - peer_->neighbours().now()) {
    sleep(std::min(left, kLongestNapSeconds));
  }
}

}  // namespace hearsay::peer
