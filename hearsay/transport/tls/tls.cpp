#include "hearsay/transport/tls/tls.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"
#include "hearsay/net/ack.h"
#include "hearsay/net/record.h"
#include "hearsay/net/tls/endpoint.h"
#include "hearsay/transport/cores.h"
#include "hearsay/transport/pool.h"
#include "hearsay/transport/rounds.h"
#include "hearsay/transport/tls/mail.h"

namespace hearsay::transport {

namespace {

using net::Bye;
using net::ByeReason;
using net::FrameType;

constexpr std::chrono::seconds kPulse{1};
constexpr double kSilenceSeconds = 30;
constexpr std::chrono::seconds kLastMessages{60};  ///< for others to reach their end

net::Fleet checked(const net::Fleet& fleet, const net::Identity& identity) {
  if (!fleet.slot_of(identity.id())) {
    throw InvalidArgument(
        fmt::format("[tls] the fleet file does not have the key {}; add the lines that hearsay "
                    "identity show prints, on all hosts",
                    net::to_text(identity.id())));
  }
  return fleet;
}

/// Processes whose addresses have the same host share its cores.
Seat seat_in(const net::Fleet& fleet, std::size_t self) {
  const auto host_of = [](const net::FleetPeer& peer) {
    if (!peer.address) return peer.name;  // its own
    const std::string& host = peer.address->host;
    return host.starts_with("127.") || host == "::1" ? "localhost" : host;
  };
  const std::string here = host_of(fleet.peers[self]);
  const auto sharing = static_cast<std::size_t>(std::ranges::count(fleet.peers, here, host_of));
  return {self, fleet.peers.size(), fair_share(std::vector(sharing, allowed_cores()), 0)};
}

class Tls final : public Transport, private net::WireEvents {
 public:
  explicit Tls(TlsParts parts)
      : fleet_(checked(parts.fleet, parts.identity)),
        seat_(seat_in(fleet_, *fleet_.slot_of(parts.identity.id()))),
        run_(run_of(fleet_)),
        others_(seat_.processes) {
    endpoint_ = std::make_unique<net::TlsEndpoint>(
        net::TlsEndpoint::Parts{.identity = parts.identity,
                                .fleet = fleet_,
                                .events = *this,
                                .limits = {.longest_data = kLongestFrame, .peers = seat_.processes},
                                .listen = net::listening_address(fleet_.peers[seat_.process]),
                                .log = [this](const std::string& what) { trouble(what); }});
    want_others();
    endpoint_->start();
    ticker_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
    std::unique_lock guard(lock_);
    const auto missing = [](const Other& other) { return !other.up; };
    changed_.wait_for(guard, parts.wait, [&] { return others_that(missing).empty(); });
    const std::vector<std::string> absent = with_trouble(others_that(missing));
    has_begun_ = true;
    guard.unlock();
    if (absent.empty()) return;
    close();
    throw RunFailed(
        fmt::format("[tls] after {} s there is no connection with {}; start all processes within "
                    "that time, or give wait=",
                    parts.wait.count(), fmt::join(absent, ", ")));
  }

  ~Tls() override {
    if (std::uncaught_exceptions() <= exceptions_) wait_for_all();
    close();
  }

  std::string_view name() const override { return "tls"; }
  Seat seat() const override { return seat_; }

  bool send(std::size_t process, Label label, ByteView head, ByteView body) override {
    check_other(seat_, process);
    check_head(head);
    const std::lock_guard guard(lock_);
    rounds(label).sends(label.round);
    Other& other = others_[process];
    if (other.gone || let_go_) return false;
    other.out.add(label, head, body);
    pump(process);
    return true;
  }

  bool flush(Label label, std::chrono::milliseconds patience) override {
    std::unique_lock guard(lock_);
    return changed_.wait_for(guard, patience, [&] {
      return std::ranges::all_of(others_,
                                 [&](const Other& other) { return other.out.all_taken(label); });
    });
  }

  void expect(std::size_t process, Label label, std::span<std::uint8_t> buffer) override {
    check_other(seat_, process);
    const std::lock_guard guard(lock_);
    rounds(label).expects(label.round);
    buffers_[{label, process}].push_back(buffer);
  }

  std::optional<Arrival> receive(Label label, std::chrono::milliseconds patience) override {
    std::unique_lock guard(lock_);
    if (rounds(label).asks(label.round)) forget_before(label);
    std::deque<Letter>& letters = letters_[label];
    if (!changed_.wait_for(guard, patience, [&] { return !letters.empty(); })) return {};
    Letter letter = std::move(letters.front());
    letters.pop_front();
    if (!closing_) acknowledge(letter);
    if (const auto buffer = expected(label, letter.from, letter.place)) {
      check_body(label, letter.from, letter.body.size(), buffer->size());
      // Not written while it arrived: its owner may have been left by an exception by then.
      std::ranges::copy(letter.body, buffer->begin());
      letter.body = *buffer;
    }
    return Arrival{letter.from, std::move(letter.head), letter.body};
  }

  std::vector<std::size_t> gone() const override {
    const std::lock_guard guard(lock_);
    return others_that([](const Other& other) { return other.gone; });
  }
  std::string described(std::size_t process) const override { return fleet_.peers[process].name; }

  bool fast_sum(std::span<float>) override { return false; }

  void let_go() noexcept override {
    const std::lock_guard guard(lock_);
    let_go_ = true;
    for (Other& other : others_) other.out.drop();
  }

  /// The others find the connections closed.
  void abort(int) noexcept override { close(); }

 private:
  struct Other {
    OutMail out;
    InMail in;
    bool up = false, gone = false, has_sent = false, finished = false;
    double heard = 0;
    std::string trouble{};  ///< why it is not up
  };
  struct Letter {
    std::size_t from = 0, place = 0;  ///< among those of that sender and label
    std::uint64_t number = 0;
    Bytes head;
    std::span<std::uint8_t> body;
  };
  using Correspondence = std::pair<Label, std::size_t>;  ///< label and sender

  static std::array<std::byte, 32> run_of(const net::Fleet& fleet) {
    Sha256 sha;
    constexpr std::string_view kProtocol = "hearsay lock-step/1\n";
    sha.update(kProtocol.data(), kProtocol.size());
    for (const net::FleetPeer& peer : fleet.peers) sha.update(peer.id.data(), peer.id.size());
    std::array<std::byte, 32> run{};
    const auto digest = sha.finish();
    std::memcpy(run.data(), digest.data(), run.size());
    return run;
  }

  Rounds& rounds(Label label) { return rounds_[static_cast<std::size_t>(label.lane)]; }

  std::vector<std::size_t> others_that(const auto& condition) const {
    std::vector<std::size_t> found;
    for (std::size_t process = 0; process < others_.size(); ++process) {
      if (process != seat_.process && condition(others_[process])) found.push_back(process);
    }
    return found;
  }

  std::vector<std::string> with_trouble(const std::vector<std::size_t>& processes) const {
    std::vector<std::string> all;
    for (const std::size_t process : processes) {
      const std::string& trouble = others_[process].trouble;
      const std::string name = described(process);
      all.push_back(trouble.empty() ? name : fmt::format("{} ({})", name, trouble));
    }
    return all;
  }

  void want_others() {
    std::vector<std::uint32_t> wanted;
    for (const std::size_t process : others_that([](const Other& other) { return !other.gone; })) {
      wanted.push_back(static_cast<std::uint32_t>(process));
    }
    endpoint_->want(wanted);
  }

  void pump(std::size_t process) {
    others_[process].out.pump([&](Bytes frame) {
      return endpoint_->send(static_cast<std::uint32_t>(process), std::move(frame));
    });
  }

  void acknowledge(const Letter& letter) {
    const auto process = static_cast<std::uint32_t>(letter.from);
    const net::Ack ack{.highest = letter.number, .seen = 1};
    if (endpoint_->send(process, net::encode_frame(ack)) || others_[letter.from].gone) return;
    endpoint_->close(process, {ByeReason::kStuck});  // it takes nothing
  }

  std::optional<std::span<std::uint8_t>> expected(Label label, std::size_t from,
                                                  std::size_t place) const {
    const auto found = buffers_.find({label, from});
    if (found == buffers_.end() || place >= found->second.size()) return {};
    return found->second[place];
  }

  void forget_before(Label label) {
    pools_[static_cast<std::size_t>(label.lane)].reuse(label.round);
    const Label oldest{label.lane, 0};
    buffers_.erase(buffers_.lower_bound({oldest, 0}), buffers_.lower_bound({label, 0}));
    places_.erase(places_.lower_bound({oldest, 0}), places_.lower_bound({label, 0}));
    std::erase_if(letters_, [&](const auto& entry) {
      return entry.first >= oldest && entry.first < label && entry.second.empty();
    });
  }

  // ---- The other processes, on the thread of the endpoint ----

  net::Hello hello(std::uint32_t) override {
    return {.run = run_,
            .incarnation = 1,
            .next = 1,
            .slot = static_cast<std::uint32_t>(seat_.process)};
  }

  std::optional<Bye> judge(std::uint32_t process, const net::Hello& hello) override {
    const std::lock_guard guard(lock_);
    if (closing_) return Bye{ByeReason::kLeft};
    Other& other = others_[process];
    if (hello.slot != process) return Bye{ByeReason::kCorrupt};
    if (hello.run != run_) {
      other.trouble = "its fleet file has other processes, or another order; give all the same";
      return Bye{ByeReason::kWrongRun};
    }
    if (has_begun_ || other.gone) return Bye{ByeReason::kRefused};  // of another start
    other.up = true;
    other.trouble.clear();
    other.heard = endpoint_->now();
    changed_.notify_all();
    return {};
  }

  void down(std::uint32_t process, std::string_view why) override {
    const std::lock_guard guard(lock_);
    if (closing_) return;
    Other& other = others_[process];
    if (has_begun_ || other.has_sent) {
      other.gone = true;
      other.out.drop();
      want_others();
    }
    if (!has_begun_) {  // started again, perhaps: nothing was sent to it
      other.up = false;
      other.in = {};
      other.trouble = why;
    }
    changed_.notify_all();
  }

  void frame(std::uint32_t process, const net::Frame& frame) override {
    const std::lock_guard guard(lock_);
    if (closing_) return;
    Other& other = others_[process];
    other.heard = endpoint_->now();
    switch (frame.header.type) {
      case FrameType::kPulse:
        return;
      case FrameType::kAck:
        other.out.taken(frame.header.number);
        return changed_.notify_all();
      case FrameType::kData:
        break;
      default:
        throw CorruptData(
            fmt::format("[tls] {} has no place here", net::name_of(frame.header.type)));
    }
    std::optional<InMail::Message> message = other.in.take(
        frame, [&](Label label, std::size_t bytes) { return room_for(label, process, bytes); });
    if (!message) return;
    if (message->label.lane == kLastLane) {
      other.finished = true;
    } else {
      other.has_sent = true;
      const std::size_t place = places_[{message->label, process}]++;
      letters_[message->label].push_back(
          {process, place, message->number, std::move(message->head), message->body});
    }
    changed_.notify_all();
  }

  void more_of_a_frame(std::uint32_t process) override {
    const std::lock_guard guard(lock_);
    if (!closing_) others_[process].heard = endpoint_->now();
  }

  void room(std::uint32_t process) override {
    const std::lock_guard guard(lock_);
    if (!closing_) pump(process);
  }

  std::span<std::uint8_t> room_for(Label label, std::size_t from, std::size_t bytes) {
    if (label.lane == kLastLane) return {};
    try {
      return pools_[static_cast<std::size_t>(label.lane)].take(bytes, label.round);
    } catch (const std::bad_alloc&) {
      throw CorruptData(fmt::format("[tls] {} announces {} bytes", described(from), bytes));
    }
  }

  /// "no connection with n2 at 10.0.0.2:7420: Connection refused"
  void trouble(const std::string& what) {
    const std::lock_guard guard(lock_);
    for (std::size_t process = 0; process < others_.size(); ++process) {
      const std::string about = fmt::format("no connection with {} ", fleet_.peers[process].name);
      if (what.starts_with(about)) others_[process].trouble = what.substr(about.size());
    }
  }

  // ---- Life and death ----

  void tick(const std::stop_token& stop) {
    std::unique_lock guard(lock_);
    std::uint64_t beat = 0;
    while (!changed_.wait_for(guard, stop, kPulse, [&] { return stop.stop_requested(); })) {
      const net::Record record{
          .slot = static_cast<std::uint32_t>(seat_.process), .incarnation = 1, .beat = ++beat};
      const Bytes pulse = net::encode_frame(std::vector{record});
      for (std::uint32_t process = 0; process < others_.size(); ++process) {
        if (!others_[process].up || others_[process].gone) continue;
        endpoint_->send(process, pulse);
        if (endpoint_->now() - others_[process].heard > kSilenceSeconds) {
          endpoint_->close(process, {ByeReason::kStuck});
        }
      }
    }
  }

  /// Messages that others have not taken would be lost with this process.
  void wait_for_all() {
    std::unique_lock guard(lock_);
    if (closing_ || let_go_) return;
    for (const std::size_t process : others_that([](const Other& other) { return !other.gone; })) {
      others_[process].out.add({kLastLane, 0}, {}, {});
      pump(process);
    }
    changed_.wait_for(guard, kLastMessages, [&] {
      return others_that([](const Other& other) { return !other.gone && !other.finished; }).empty();
    });
  }

  void close() {
    {
      const std::lock_guard guard(lock_);
      if (std::exchange(closing_, true)) return;
    }
    ticker_ = {};
    endpoint_.reset();
  }

  const net::Fleet fleet_;
  const Seat seat_;
  const std::array<std::byte, 32> run_;
  const int exceptions_ = std::uncaught_exceptions();

  mutable std::mutex lock_;  ///< guards all below but the endpoint, which has locks of its own
  std::condition_variable_any changed_;
  std::vector<Other> others_;  ///< by process; the own one is not used
  std::array<Rounds, 2> rounds_;
  std::array<Pool, 2> pools_;
  std::map<Label, std::deque<Letter>> letters_;
  std::map<Correspondence, std::deque<std::span<std::uint8_t>>> buffers_;  ///< posted by `expect`
  std::map<Correspondence, std::size_t> places_;                           ///< messages so far
  bool has_begun_ = false;  ///< all were connected; who is gone now is gone for good
  bool let_go_ = false;     ///< nothing more is sent
  bool closing_ = false;    ///< the endpoint may be gone
  std::unique_ptr<net::TlsEndpoint> endpoint_;
  std::jthread ticker_;
};

}  // namespace

std::unique_ptr<Transport> make_tls_transport(TlsParts parts) {
  return std::make_unique<Tls>(std::move(parts));
}

std::unique_ptr<Transport> make_tls(const Arguments& arguments) {
  return make_tls_transport({.identity = net::Identity::read(arguments.text("identity")),
                             .fleet = net::read_fleet(arguments.text("fleet")),
                             .wait = std::chrono::seconds(arguments.integer_in_range("wait"))});
}

}  // namespace hearsay::transport
