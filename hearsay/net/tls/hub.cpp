#include "hearsay/net/tls/hub.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::net {

namespace {

constexpr std::uint32_t kDialStream = 3;  // of Purpose::kLink

Backoff make_backoff(const Id& self, std::uint32_t slot) {
  std::uint64_t seed = 0;  // differs from peer to peer, and from life to life
  std::memcpy(&seed, self.data(), sizeof(seed));
  seed ^= static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return Backoff(Random(seed, Purpose::kLink, kDialStream, slot));
}

/// Whether one that is cut off for that reason still gets what was sent to it before.
bool flushes(ByeReason reason) {
  return reason != ByeReason::kRemoved && reason != ByeReason::kCorrupt &&
         reason != ByeReason::kStuck;
}

}  // namespace

Hub::Hub(asio::io_context& io, TlsEndpoint::Parts parts, Doors& doors)
    : io_(io),
      events_(parts.events),
      log_(std::move(parts.log)),
      limits_(parts.limits),
      doors_(doors),
      client_(parts.identity, TlsContext::Side::kClient),
      server_(parts.identity, TlsContext::Side::kServer),
      timer_(io) {
  const Id& id = parts.identity.id();
  const std::optional<std::uint32_t> self = parts.fleet.slot_of(id);
  if (!self) {
    throw InvalidArgument(fmt::format(
        "[fleet] has no peer with this one's id, {}; add it on all devices", to_text(id)));
  }
  self_ = *self;
  for (const FleetPeer& peer : parts.fleet.peers) {
    const auto slot = static_cast<std::uint32_t>(peers_.size());
    peers_.push_back({.id = peer.id,
                      .name = peer.name,
                      .address = peer.address,
                      .backoff = make_backoff(id, slot)});
  }
  if (!parts.listen) return;
  listener_.emplace(io, *parts.listen, [this](auto socket, auto ticket) {
    begin(std::move(socket), server_, {}, std::move(ticket));
  });
}

// ---- What the endpoint asks for ----

void Hub::start() {
  last_tick_ = steady_seconds();
  if (listener_) listener_->start();
  tick_later();
}

void Hub::stop() {
  stopping_ = true;
  if (listener_) listener_->close();
  for (Peer& peer : peers_) stop_dialling(peer);
  const std::vector sessions(sessions_.begin(), sessions_.end());
  for (const auto& session : sessions) session->finish({ByeReason::kLeft}, true);
  if (sessions_.empty()) timer_.cancel();
}

void Hub::want(const std::vector<std::uint32_t>& peers) {
  for (Peer& peer : peers_) peer.wanted = false;
  for (const std::uint32_t slot : peers) {
    if (slot < peers_.size() && slot != self_) peers_[slot].wanted = true;
  }
  for (std::uint32_t slot = 0; slot < peers_.size(); ++slot) {
    if (!peers_[slot].wanted) stop_dialling(peers_[slot]);
    dial(slot);
  }
}

void Hub::set_fleet(const Fleet& fleet) {
  for (std::uint32_t slot = 0; slot < peers_.size(); ++slot) {
    if (slot == self_) continue;
    Peer& peer = peers_[slot];
    const std::optional<std::uint32_t> found = fleet.slot_of(peer.id);
    const bool was_listed = std::exchange(peer.listed, found.has_value());
    if (!found) {
      cut_off(slot);
      continue;
    }
    const FleetPeer& newer = fleet.peers[*found];
    peer.name = newer.name;
    if (was_listed && peer.address == newer.address) continue;
    peer.address = newer.address;
    stop_dialling(peer);
    peer.dial_at = 0;
    dial(slot);
  }
}

void Hub::close(std::uint32_t slot, const std::shared_ptr<Session>& session, const Bye& bye) {
  if (!peers_[slot].up || peers_[slot].current != session) return;
  session->finish(bye, flushes(bye.reason));
  lose(slot, fmt::format("closed here: {}", name_of(bye.reason)));
}

void Hub::cut_off(std::uint32_t slot) {
  Peer& peer = peers_[slot];
  stop_dialling(peer);
  const Bye bye{ByeReason::kRemoved};
  if (const auto contender = std::exchange(peer.contender, nullptr)) contender->finish(bye, false);
  if (!peer.current) return;
  peer.current->finish(bye, false);
  lose(slot, "no longer in the fleet file");
}

// ---- Dialling ----

void Hub::dial(std::uint32_t slot) {
  Peer& peer = peers_[slot];
  if (stopping_ || !peer.wanted || !peer.listed || !peer.address) return;
  if (peer.current || peer.dial || peer.attempt || steady_seconds() < peer.dial_at) return;
  peer.dial = std::make_shared<Dial>(
      io_, *peer.address, [this, slot](const std::string& why, asio::ip::tcp::socket socket) {
        dialled(slot, why, std::move(socket));
      });
  peer.dial->start();
}

void Hub::dialled(std::uint32_t slot, const std::string& why, asio::ip::tcp::socket socket) {
  Peer& peer = peers_[slot];
  peer.dial = nullptr;
  if (!why.empty()) {
    trouble(peer, why);
    redial_later(peer);
  } else {
    peer.attempt = begin(std::move(socket), client_, slot, nullptr);
  }
}

void Hub::stop_dialling(Peer& peer) {
  if (const auto dial = std::exchange(peer.dial, nullptr)) dial->cancel();
  if (const auto attempt = std::exchange(peer.attempt, nullptr)) attempt->abandon();
}

void Hub::redial_later(Peer& peer) {
  if (peer.wanted) peer.dial_at = steady_seconds() + peer.backoff.next();
}

void Hub::trouble(Peer& peer, const std::string& why) {
  if (std::exchange(peer.trouble, why) == why || !log_ || silent_) return;
  const std::string where = peer.address ? fmt::format(" at {}", to_text(*peer.address)) : "";
  log_(fmt::format("no connection with {}{}: {}", peer.name, where, why));
}

// ---- What sessions tell ----

std::shared_ptr<Session> Hub::begin(asio::ip::tcp::socket socket, const TlsContext& context,
                                    std::optional<std::uint32_t> peer,
                                    std::shared_ptr<void> ticket) {
  auto session = std::make_shared<Session>(Session::Parts{.socket = std::move(socket),
                                                          .context = context,
                                                          .limits = limits_,
                                                          .owner = *this,
                                                          .peer = peer,
                                                          .ticket = std::move(ticket),
                                                          .born = ++born_});
  sessions_.insert(session);
  session->start();
  return session;
}

std::optional<std::uint32_t> Hub::slot_of(const Id& id) const {
  const auto found = std::ranges::find(peers_, id, &Peer::id);
  if (found == peers_.end()) return {};
  return static_cast<std::uint32_t>(found - peers_.begin());
}

bool Hub::admits(Session& session, const Id& id) {
  const std::optional<std::uint32_t> slot = slot_of(id);
  return slot && *slot != self_ && peers_[*slot].listed && session.peer().value_or(*slot) == *slot;
}

void Hub::proven(Session& session) {
  if (!admits(session, session.other())) return session.abandon();  // removed a moment ago
  const std::uint32_t slot = *slot_of(session.other());
  session.set_peer(slot);
  Peer& peer = peers_[slot];
  const std::shared_ptr<Session> self = session.shared_from_this();
  if (peer.attempt == self) peer.attempt = nullptr;
  if (!peer.current) return make_current(slot, self);
  if (session.dialled()) return session.finish({ByeReason::kDuplicate}, false);
  if (peer.contender) peer.contender->finish({ByeReason::kDuplicate}, false);
  peer.contender = self;
}

bool Hub::current_stays(const Peer& peer, const Session& contender) const {
  if (!peer.current->dialled()) return contender.born() < peer.current->born();
  const bool was_up = peer.up && peer.up_born < contender.born();
  return peers_[self_].id < peer.id && !was_up;
}

void Hub::greeted(Session& session, const Hello& hello) {
  const std::uint32_t slot = *session.peer();
  Peer& peer = peers_[slot];
  if (peer.contender.get() == &session) {
    if (current_stays(peer, session)) {
      return std::exchange(peer.contender, nullptr)->finish({ByeReason::kDuplicate}, false);
    }
    peer.current->finish({ByeReason::kDuplicate}, false);
    lose(slot, "it made another connection");
  }
  if (peer.current.get() == &session) judge(slot, hello);
}

void Hub::make_current(std::uint32_t slot, const std::shared_ptr<Session>& session) {
  if (silent_) return session->abandon();
  peers_[slot].current = session;
  session->greet(events_.hello(slot));
}

void Hub::judge(std::uint32_t slot, const Hello& hello) {
  if (silent_) return;
  Peer& peer = peers_[slot];
  const std::shared_ptr<Session> session = peer.current;
  doors_.set(slot, {.outbox = session->outbox(), .session = session});
  if (const std::optional<Bye> bye = events_.judge(slot, hello)) {
    session->finish(*bye, false);
    return lose(slot, "");
  }
  peer.up = true;
  peer.up_since = steady_seconds();
  peer.up_born = ++born_;
  peer.trouble.clear();
  session->open();
}

void Hub::lose(std::uint32_t slot, std::string_view why) {
  Peer& peer = peers_[slot];
  peer.current = nullptr;
  doors_.set(slot, {});  // before the event: what is sent after it would be lost
  if (std::exchange(peer.up, false)) {
    peer.backoff.lasted(steady_seconds() - peer.up_since);
    if (!silent_) events_.down(slot, why);
  }
  redial_later(peer);
  if (const auto next = std::exchange(peer.contender, nullptr)) make_current(slot, next);
}

void Hub::frame(Session& session, const Frame& frame) {
  if (is_up(session) && !silent_) events_.frame(*session.peer(), frame);
}

void Hub::more_of_a_frame(Session& session) {
  if (is_up(session) && !silent_) events_.more_of_a_frame(*session.peer());
}

void Hub::room(Session& session) {
  if (is_up(session) && !silent_) events_.room(*session.peer());
}

bool Hub::is_up(const Session& session) const {
  const Peer& peer = peers_[*session.peer()];
  return peer.up && peer.current.get() == &session;
}

void Hub::ended(Session& session, const std::string& why) {
  if (!session.peer()) {
    return log_refusal(fmt::format("a connection from {} is refused: {}", session.remote(), why));
  }
  const std::uint32_t slot = *session.peer();
  Peer& peer = peers_[slot];
  if (peer.contender.get() == &session) {
    peer.contender = nullptr;
  } else if (peer.attempt.get() == &session) {
    peer.attempt = nullptr;
    if (!peer.current) trouble(peer, why);
    redial_later(peer);
  } else if (peer.current.get() == &session) {
    if (!peer.up && session.farewell() != ByeReason::kDuplicate) trouble(peer, why);
    lose(slot, why);
  }
}

void Hub::gone(Session& session) {
  sessions_.erase(session.shared_from_this());
  if (stopping_ && sessions_.empty()) timer_.cancel();
}

// ---- Time ----

void Hub::tick_later() {
  timer_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(kTickSeconds)));
  timer_.async_wait([this](const asio::error_code& error) {
    if (!error) tick();
  });
}

void Hub::tick() {
  // A thread that stood still, in an event or since the process was stopped, blames nobody for it.
  const double now = steady_seconds(), seconds = std::min(now - last_tick_, kLongestTick);
  last_tick_ = now;
  if (listener_) listener_->tick();
  const std::vector sessions(sessions_.begin(), sessions_.end());
  for (const auto& session : sessions) session->tick(seconds);
  if (stopping_) {
    stopping_for_ += seconds;
    if (stopping_for_ > kStopSeconds) {
      for (const auto& session : sessions) session->abandon();
    }
    if (sessions_.empty()) return;
  }
  for (std::uint32_t slot = 0; slot < peers_.size(); ++slot) {
    if (const auto dial = peers_[slot].dial) dial->tick(seconds);
    dial(slot);
  }
  tick_later();
}

void Hub::log_refusal(const std::string& what) {
  if (!log_ || silent_ || refusals_.contains(what)) return;
  const double now = steady_seconds();
  if (now - refusals_since_ >= 1) {
    refusals_since_ = now;
    refusals_this_second_ = 0;
  }
  if (++refusals_this_second_ > kRefusalsASecond) return;
  if (refusals_.size() >= kRefusalsKept) refusals_.clear();
  refusals_.insert(what);
  log_(what);
}

}  // namespace hearsay::net
