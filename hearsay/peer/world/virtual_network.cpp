#include "hearsay/peer/world/virtual_network.h"

#include <algorithm>

#include "hearsay/core/error.h"

namespace hearsay::peer {

namespace {

constexpr std::uint32_t kNetworkStream = 2;  // of Purpose::kLink, see faults.cpp
constexpr double kFirstRedial = 0.25, kLastRedial = 15;
constexpr double kGreetingSeconds = 5;  ///< without a HELLO, a connection is given up
constexpr int kHandshake = 3;           ///< one-way delays until a connection is made

}  // namespace

/// This peer's end of the line to another.
struct VirtualNetwork::Line {
  bool wanted = false;
  bool dialling = false;
  double redial = kFirstRedial;
  std::uint64_t connection = 0;  ///< 0: none
  bool up = false;
  bool dead = false;        ///< what arrives from the other is dropped
  double last_arrival = 0;  ///< of frames to the other, where they keep their order
};

class VirtualNetwork::Port final : public net::Wire {
 public:
  Port(VirtualNetwork& network, std::uint32_t self, net::WireEvents& told,
       const net::FrameLimits& longest)
      : events(told),
        limits(longest),
        lines(network.ports_.size()),
        network_(network),
        self_(self) {}

  void want(std::span<const std::uint32_t> peers) override {
    for (Line& line : lines) line.wanted = false;
    for (const std::uint32_t peer : peers) {
      lines[peer].wanted = true;
      network_.dial_later(self_, peer);
    }
  }
  bool send(std::uint32_t peer, net::EncodedFrame encoded) override {
    if (!lines[peer].up) return false;
    network_.bytes_ += encoded.size();
    if (network_.lost()) return true;
    const Bytes frame = encoded.joined();
    network_.deliver(self_, peer, frame, network_.travel());
    const double twice = network_.faults_.duplicate;
    if (twice > 0 && network_.random_.uniform() < twice) {
      network_.deliver(self_, peer, frame, network_.travel());
    }
    return true;
  }
  void close(std::uint32_t peer, const net::Bye& bye) override { network_.close(self_, peer, bye); }
  bool reliable() const override { return network_.faults_.reliable(); }
  double now() const override { return network_.events_.now(); }

  net::WireEvents& events;
  net::FrameLimits limits;
  std::vector<Line> lines;  ///< by peer

 private:
  VirtualNetwork& network_;
  std::uint32_t self_;
};

VirtualNetwork::VirtualNetwork(EventQueue& events, const Faults& faults, std::size_t peers,
                               std::uint64_t seed)
    : events_(events),
      faults_(faults),
      random_(seed, Purpose::kLink, kNetworkStream),
      ports_(peers),
      lives_(peers, 0) {}

VirtualNetwork::~VirtualNetwork() = default;

net::Wire& VirtualNetwork::enter(std::uint32_t peer, net::WireEvents& events,
                                 const net::FrameLimits& limits) {
  ++lives_[peer];
  ports_[peer] = std::make_unique<Port>(*this, peer, events, limits);
  return *ports_[peer];
}

void VirtualNetwork::leave(std::uint32_t peer) {
  const bool silently = random_.uniform() < 0.5;
  for (std::uint32_t other = 0; other < ports_.size() && !silently; ++other) {
    const std::uint64_t connection = ports_[peer]->lines[other].connection;
    if (connection == 0) continue;
    later(travel(), other, [this, peer, connection](Port& port) {
      lose(port, peer, connection, "connection reset");
    });
  }
  ports_[peer].reset();
}

void VirtualNetwork::later(double seconds, std::uint32_t peer, std::function<void(Port&)> event) {
  events_.after(seconds, [this, peer, life = lives_[peer], event = std::move(event)] {
    if (ports_[peer] && lives_[peer] == life) event(*ports_[peer]);
  });
}

void VirtualNetwork::dial_later(std::uint32_t from, std::uint32_t to) {
  Line& line = ports_[from]->lines[to];
  if (!line.wanted || line.dialling || line.connection != 0) return;
  line.dialling = true;
  later(line.redial * (0.5 + 0.5 * random_.uniform()), from,
        [this, from, to](Port&) { dial(from, to); });
  line.redial = std::min(2 * line.redial, kLastRedial);
}

void VirtualNetwork::dial(std::uint32_t from, std::uint32_t to) {
  Line& line = ports_[from]->lines[to];
  if (!line.wanted || line.connection != 0) {
    line.dialling = false;
    return;
  }
  double seconds = 0;
  for (int k = 0; k < kHandshake; ++k) seconds += travel();
  later(seconds, from, [this, from, to](Port& port) {
    port.lines[to].dialling = false;
    if (port.lines[to].connection != 0) return;  // the other was quicker
    const bool made = ports_[to] && passes(from, to) && !lost();
    made ? connect(from, to) : dial_later(from, to);
  });
}

void VirtualNetwork::connect(std::uint32_t from, std::uint32_t to) {
  const std::uint64_t connection = ++connections_;
  for (const auto& [peer, other] : {std::pair(from, to), std::pair(to, from)}) {
    Port& port = *ports_[peer];
    lose(port, other, port.lines[other].connection, "another connection was made");
    port.lines[other].connection = connection;
    port.lines[other].dead = false;
    port.lines[other].last_arrival = events_.now();
  }
  greet(from, to, connection);
  greet(to, from, connection);
}

/// The HELLO of `from` on its way to `to`.
void VirtualNetwork::greet(std::uint32_t from, std::uint32_t to, std::uint64_t connection) {
  const net::Hello hello = ports_[from]->events.hello(to);
  Line& line = ports_[from]->lines[to];
  line.last_arrival = std::max(line.last_arrival, events_.now() + travel());
  later(line.last_arrival - events_.now(), to, [this, from, to, connection, hello](Port& port) {
    Line& back = port.lines[from];
    if (back.connection != connection || !passes(from, to)) return;
    if (const auto bye = port.events.judge(from, hello)) {
      close(to, from, *bye);
      return;
    }
    back.up = true;
    back.redial = kFirstRedial;
  });
  later(kGreetingSeconds, from, [this, to, connection](Port& port) {
    if (!port.lines[to].up) lose(port, to, connection, "no HELLO");
  });
}

void VirtualNetwork::deliver(std::uint32_t from, std::uint32_t to, const Bytes& frame,
                             double seconds) {
  if (!ports_[to]) return;
  Line& line = ports_[from]->lines[to];
  double when = events_.now() + seconds;
  if (faults_.reliable()) when = line.last_arrival = std::max(line.last_arrival, when);
  later(when - events_.now(), to,
        [this, from, to, frame, connection = line.connection](Port& port) {
          Line& back = port.lines[from];
          if (back.connection != connection || !back.up || back.dead) return;
          if (!passes(from, to)) {
            back.dead = faults_.reliable();
            return;
          }
          try {
            port.events.frame(from, net::decode_frame(frame, port.limits));
          } catch (const CorruptData&) {
            close(to, from, {net::ByeReason::kCorrupt});
          }
        });
}

void VirtualNetwork::close(std::uint32_t from, std::uint32_t to, const net::Bye& bye) {
  const std::uint64_t connection = ports_[from]->lines[to].connection;
  if (connection == 0) return;
  later(0, from, [this, to, connection](Port& port) { lose(port, to, connection, "closed here"); });
  if (!ports_[to] || lost()) return;
  Line& line = ports_[from]->lines[to];
  double when = events_.now() + travel();
  if (faults_.reliable()) when = line.last_arrival = std::max(line.last_arrival, when);
  later(when - events_.now(), to, [this, from, to, connection, reason = bye.reason](Port& port) {
    const bool arrives = passes(from, to) && !port.lines[from].dead;
    if (arrives) lose(port, from, connection, net::name_of(reason));
  });
}

void VirtualNetwork::lose(Port& port, std::uint32_t other, std::uint64_t connection,
                          std::string_view why) {
  Line& line = port.lines[other];
  if (connection == 0 || line.connection != connection) return;
  const bool was_up = line.up;
  line.connection = 0;
  line.up = false;
  if (was_up) port.events.down(other, why);
}

}  // namespace hearsay::peer
