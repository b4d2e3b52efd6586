#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "hearsay/core/bytes.h"
#include "hearsay/net/bye.h"
#include "hearsay/net/frame.h"
#include "hearsay/net/hello.h"

namespace hearsay::net {

/// What a wire tells its peer. Peers are slots of the fleet file. The wire never calls from within
/// a call of its own members, and calls one at a time.
class WireEvents {
 public:
  virtual ~WireEvents() = default;

  /// The HELLO for a new connection with that peer. If there was another one, it is closed by now
  /// (`down`), and nothing that was sent over it will be handed out any more.
  virtual Hello hello(std::uint32_t peer) = 0;

  /// The other's HELLO on a new connection: nullopt lets it in, and the connection is up; else it
  /// is closed with that reason. Nothing but its own HELLO was sent to the other before.
  virtual std::optional<Bye> judge(std::uint32_t peer, const Hello& hello) = 0;

  /// A connection that was up is gone. `why`: for people, "silent for 2.5 s".
  virtual void down(std::uint32_t peer, std::string_view why) = 0;

  /// A frame from a peer whose connection is up: neither a HELLO nor a BYE. Throws CorruptData if
  /// its body is not valid; the connection is then closed.
  virtual void frame(std::uint32_t peer, const Frame& frame) = 0;

  /// More of a frame arrived that is not whole yet, from a peer whose connection is up: it lives.
  virtual void more_of_a_frame(std::uint32_t /*peer*/) {}

  /// A queue that had no room for a frame has room again.
  virtual void room(std::uint32_t /*peer*/) {}
};

/// How frames travel between the peers of a fleet: over connections, at most one for a pair of
/// peers. A connection is up once both sides have accepted the other's HELLO; frames of a
/// connection that is no longer up are dropped.
class Wire {
 public:
  virtual ~Wire() = default;

  /// Keep connections to these peers, if they can be had. Others may be closed.
  virtual void want(std::span<const std::uint32_t> peers) = 0;

  /// Send a frame (encode_frame). False if the connection is not up, or its queue is full.
  virtual bool send(std::uint32_t peer, EncodedFrame frame) = 0;

  /// Close a connection: `down` follows, unless it was not up.
  virtual void close(std::uint32_t peer, const Bye& bye) = 0;

  /// Whether frames arrive in order and exactly once while the connection is up. If not, they may
  /// get lost, late or arrive twice, and their sender has to repeat them.
  virtual bool reliable() const = 0;

  /// Seconds since some moment.
  virtual double now() const = 0;
};

}  // namespace hearsay::net
