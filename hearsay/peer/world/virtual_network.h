#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "hearsay/core/random.h"
#include "hearsay/net/wire.h"
#include "hearsay/peer/world/event_queue.h"
#include "hearsay/peer/world/faults.h"

namespace hearsay::peer {

/// A network in virtual time between the peers of a fleet, each of which has a Wire while it lives.
/// It makes connections and breaks them, and delays, reorders, repeats and loses frames as the
/// faults say; HELLOs are the first to arrive on a connection. A peer that wants another (again
/// and again) and is not connected to it dials, after 0.25 seconds, doubling up to 15. Over a
/// reliable wire a connection on which something got lost, in a cut, carries nothing any more.
class VirtualNetwork {
 public:
  VirtualNetwork(EventQueue& events, const Faults& faults, std::size_t peers, std::uint64_t seed);
  ~VirtualNetwork();

  /// A life of a peer begins. Its wire and `events` are valid until `leave`.
  net::Wire& enter(std::uint32_t peer, net::WireEvents& events, const net::FrameLimits& limits);
  /// It is over. Others may hear that its connections are reset, or nothing but silence.
  void leave(std::uint32_t peer);

  /// Nothing passes between peers of which one is below `first` and the other is not; 0: all does.
  void cut_at(std::uint32_t first) { cut_ = first; }

  /// Bytes of all frames that were sent, also of those that got lost.
  std::uint64_t bytes() const { return bytes_; }

 private:
  class Port;
  struct Line;

  bool passes(std::uint32_t a, std::uint32_t b) const { return (a < cut_) == (b < cut_); }
  bool lost() { return faults_.loss > 0 && random_.uniform() < faults_.loss; }
  double travel() { return faults_.delay > 0 ? 2 * faults_.delay * random_.uniform() : 0; }
  /// `event` happens later, to that peer, if it still leads the same life.
  void later(double seconds, std::uint32_t peer, std::function<void(Port&)> event);

  void dial(std::uint32_t from, std::uint32_t to);
  void dial_later(std::uint32_t from, std::uint32_t to);
  void connect(std::uint32_t from, std::uint32_t to);
  void greet(std::uint32_t from, std::uint32_t to, std::uint64_t connection);
  void deliver(std::uint32_t from, std::uint32_t to, const Bytes& frame, double seconds);
  void close(std::uint32_t from, std::uint32_t to, const net::Bye& bye);
  void lose(Port& port, std::uint32_t other, std::uint64_t connection, std::string_view why);

  EventQueue& events_;
  Faults faults_;
  Random random_;
  std::vector<std::unique_ptr<Port>> ports_;  ///< null: dead
  std::vector<std::uint64_t> lives_;          ///< of each peer, so far
  std::uint64_t connections_ = 0;             ///< made so far, which number them
  std::uint32_t cut_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace hearsay::peer
