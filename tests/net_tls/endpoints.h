#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/net/tls/endpoint.h"

/// Peers of a fleet in one process, over the loopback device.
namespace hearsay::net {

inline constexpr FrameLimits kTestLimits{.longest_data = 1000, .peers = 64};
inline constexpr std::size_t kHelloFrameBytes = kFrameHeaderBytes + kHelloBytes;
inline constexpr std::chrono::seconds kPatience{60};  ///< until a test fails that waits in vain

/// Notes what a wire calls. What it answers can be set. Thread-safe.
class Recorder final : public WireEvents {
 public:
  struct Seen {
    int hellos = 0, judged = 0, ups = 0, downs = 0;
    bool up = false;
    std::string why{};                     ///< of the last `down`
    std::vector<std::uint64_t> numbers{};  ///< of DATA
    std::vector<Bytes> bodies{};           ///< of DATA, and as many
    int parts = 0;                         ///< of frames that were not whole yet
    std::optional<Hello> hello{};          ///< the other's
  };

  explicit Recorder(std::uint32_t slot) : slot_(slot) {}

  /// What HELLO says; which HELLOs are let in; which frames are corrupt. Before the wire starts.
  std::uint64_t incarnation = 1;
  std::function<std::optional<Bye>(std::uint32_t, const Hello&)> verdict{};
  std::function<bool(const Frame&)> corrupt{};

  Hello hello(std::uint32_t peer) override {
    note(peer, [&](Seen& seen) {
      ++seen.hellos;
      if (seen.up) broken_ = "a HELLO composed while up";
    });
    Hello own;
    own.incarnation = incarnation;
    own.slot = slot_;
    return own;
  }
  std::optional<Bye> judge(std::uint32_t peer, const Hello& other) override {
    std::optional<Bye> bye = verdict ? verdict(peer, other) : std::nullopt;
    note(peer, [&](Seen& seen) {
      ++seen.judged;
      seen.hello = other;
      if (seen.up) broken_ = "judged while up";
      if (seen.hellos < seen.judged) broken_ = "judged before a hello was composed";
      if (bye) return;
      ++seen.ups;
      seen.up = true;
    });
    return bye;
  }
  void down(std::uint32_t peer, std::string_view why) override {
    note(peer, [&](Seen& seen) {
      if (!seen.up) broken_ = "down, but not up";
      ++seen.downs;
      seen.up = false;
      seen.why = why;
    });
  }
  void frame(std::uint32_t peer, const Frame& frame) override {
    if (corrupt && corrupt(frame)) throw CorruptData("[test] corrupt");
    note(peer, [&](Seen& seen) {
      if (!seen.up) broken_ = "a frame, but not up";
      if (frame.header.type != FrameType::kData) return;
      seen.numbers.push_back(frame.header.number);
      seen.bodies.emplace_back(frame.body.begin(), frame.body.end());
    });
  }

  void more_of_a_frame(std::uint32_t peer) override {
    note(peer, [&](Seen& seen) {
      if (!seen.up) broken_ = "a part of a frame, but not up";
      ++seen.parts;
    });
  }

  /// Whether that became true in time.
  bool wait(std::uint32_t peer, const std::function<bool(const Seen&)>& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return condition(seen_[peer]); });
  }
  bool wait_up(std::uint32_t peer, int times = 1) {
    return wait(peer, [&](const Seen& seen) { return seen.up && seen.ups >= times; });
  }
  bool wait_down(std::uint32_t peer, int times = 1) {
    return wait(peer, [&](const Seen& seen) { return seen.downs >= times; });
  }
  Seen seen(std::uint32_t peer) {
    const std::lock_guard lock(mutex_);
    return seen_[peer];
  }
  /// HELLOs composed, for anybody.
  int hellos() {
    const std::lock_guard lock(mutex_);
    int sum = 0;
    for (const auto& [peer, seen] : seen_) sum += seen.hellos;
    return sum;
  }
  /// Which promise of WireEvents was not kept; empty: all were.
  std::string broken() {
    const std::lock_guard lock(mutex_);
    return broken_;
  }

 private:
  template <class Change>
  void note(std::uint32_t peer, const Change& change) {
    const std::lock_guard lock(mutex_);
    change(seen_[peer]);
    changed_.notify_all();
  }

  const std::uint32_t slot_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint32_t, Seen> seen_;
  std::string broken_;
};

/// Sentences of a log. Thread-safe.
class Log {
 public:
  void operator()(const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    sentences_.push_back(sentence);
    changed_.notify_all();
  }
  /// Whether a sentence that holds this came in time.
  bool wait(std::string_view part) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return count_locked(part) > 0; });
  }
  std::size_t count(std::string_view part) {
    const std::lock_guard lock(mutex_);
    return count_locked(part);
  }
  std::string all() {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const std::string& sentence : sentences_) text += sentence + "\n";
    return text;
  }

 private:
  std::size_t count_locked(std::string_view part) const {
    std::size_t found = 0;
    for (const std::string& sentence : sentences_) found += sentence.find(part) != sentence.npos;
    return found;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> sentences_;
};

/// A fleet whose peers are not started, each with an endpoint that listens at a port of its own.
/// Smaller slots have smaller ids.
class Endpoints {
 public:
  explicit Endpoints(std::uint32_t peers) {
    for (std::uint32_t slot = 0; slot < peers; ++slot) identities_.push_back(Identity::generate());
    std::ranges::sort(identities_, {}, &Identity::id);
    for (std::uint32_t slot = 0; slot < peers; ++slot) {
      fleet_.peers.push_back({.name = fmt::format("peer-{}", slot), .id = identities_[slot].id()});
    }
    recorders_.resize(peers);
    logs_.resize(peers);
    endpoints_.resize(peers);
  }

  /// Listens, and its address is in the fleet from now on.
  TlsEndpoint& make(std::uint32_t slot, std::optional<Address> listen = Address{"127.0.0.1", 0}) {
    recorders_[slot] = std::make_unique<Recorder>(slot);
    logs_[slot] = std::make_shared<Log>();
    endpoints_[slot] = std::make_unique<TlsEndpoint>(
        TlsEndpoint::Parts{.identity = identities_[slot],
                           .fleet = fleet_,
                           .events = *recorders_[slot],
                           .limits = kTestLimits,
                           .listen = listen,
                           .log = [log = logs_[slot]](const std::string& text) { (*log)(text); }});
    if (listen) fleet_.peers[slot].address = Address{"127.0.0.1", endpoints_[slot]->port()};
    return *endpoints_[slot];
  }
  /// Knows the addresses of all that were made, wants these peers, and runs.
  void start(std::uint32_t slot, const std::vector<std::uint32_t>& wanted = {}) {
    at(slot).set_fleet(fleet_);
    at(slot).want(wanted);
    at(slot).start();
  }
  void destroy(std::uint32_t slot) { endpoints_[slot].reset(); }

  std::uint32_t size() const { return static_cast<std::uint32_t>(endpoints_.size()); }
  Fleet& fleet() { return fleet_; }
  const Identity& identity(std::uint32_t slot) const { return identities_[slot]; }
  TlsEndpoint& at(std::uint32_t slot) { return *endpoints_[slot]; }
  Recorder& seen_by(std::uint32_t slot) { return *recorders_[slot]; }
  Log& log_of(std::uint32_t slot) { return *logs_[slot]; }
  std::uint16_t port(std::uint32_t slot) { return at(slot).port(); }

 private:
  std::vector<Identity> identities_;
  Fleet fleet_;
  std::vector<std::unique_ptr<Recorder>> recorders_;
  std::vector<std::shared_ptr<Log>> logs_;
  std::vector<std::unique_ptr<TlsEndpoint>> endpoints_;  // last: they call the others
};

/// Sockets of this process.
inline std::size_t open_sockets() {
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    found += target.starts_with("socket:");
  }
  return found;
}

/// Whether this process has so many sockets soon. They are closed by threads that tell nobody.
inline bool come_to_sockets(std::size_t sockets) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (open_sockets() != sockets && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return open_sockets() == sockets;
}

/// DATA with that number and body.
inline Bytes data_frame(std::uint64_t number, const Bytes& body = Bytes(8, 1)) {
  return encode_frame(FrameType::kData, 0, number, body);
}

}  // namespace hearsay::net
