#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "hearsay/net/address.h"
#include "hearsay/net/fleet.h"
#include "hearsay/net/frame.h"
#include "hearsay/net/identity.h"
#include "hearsay/net/wire.h"

namespace hearsay::net {

/// A wire of TLS 1.3 connections, in which both sides prove who they are; who is not in the fleet
/// gets nothing, not even a HELLO. Frames arrive in order and once while a connection is up.
///
/// One thread of its own makes all calls of events, one at a time, and of `log`. `send`, `want`,
/// `close` and `set_fleet` may be called from any thread, within an event too, and hold no lock
/// while an event is called. So the order of locks is: the user's, which he may hold when he calls
/// these and take within events; the wire's own, which are leaves.
///
/// Peers that are wanted and have an address are dialled at once, then after 0.25 seconds, doubling
/// up to 15, each times a random number from [1/2, 1). If both dial, one connection stays: the
/// first over which both said HELLO, and of two that began together the one dialled by the smaller
/// id. If a peer whose connection is up makes another one, it replaces the old one as soon as its
/// HELLO has arrived. `down` comes before `hello`, and `hello` before `judge`.
class TlsEndpoint final : public Wire {
 public:
  struct Parts {
    Identity identity;
    Fleet fleet;  ///< holds this peer, whose slot is found by its id
    WireEvents& events;
    FrameLimits limits{};
    std::optional<Address> listen{};  ///< empty: it cannot be dialled; port 0: any free one
    /// Gets a sentence for each stranger that is refused and each peer that cannot be reached, once
    /// a cause; may be empty.
    std::function<void(const std::string&)> log{};
  };

  /// Listens, but neither accepts nor dials before `start`. Throws InvalidArgument if the fleet
  /// does not hold this peer, if the address cannot be listened on, and if this build has no
  /// network.
  explicit TlsEndpoint(Parts parts);

  /// Says goodbye, for a second at most, and closes all connections. Calls no event once it has
  /// begun, but waits for one that is being called: hold no lock that events take. Where the name
  /// of a peer is being resolved it waits for that too.
  ~TlsEndpoint() override;

  /// Accept and dial; from now on events are called.
  void start();

  std::uint32_t slot() const;  ///< of this peer
  std::uint16_t port() const;  ///< where it listens; 0: nowhere

  /// Newer addresses; who is no longer listed is cut off, and let in again if it is listed later.
  /// Peers are known by their ids and keep their slots; ids that the first fleet did not have, and
  /// this peer's own, are not looked at.
  void set_fleet(const Fleet& fleet);

  /// Out-of-range slots and this peer's own are ignored.
  void want(std::span<const std::uint32_t> peers) override;
  /// True from the call of `judge` on, which may let other threads send before it returns; such
  /// frames leave if it lets the other in. True until `down` is called; what is sent after the
  /// connection broke is lost. False if too many bytes wait: of DATA 8 MiB and one message, of
  /// MODEL and of all others 1 MiB each.
  bool send(std::uint32_t peer, EncodedFrame frame) override;
  /// What was sent before is still sent, if the other takes it within two seconds, except to one
  /// that is cut off (kRemoved, kCorrupt, kStuck). Nothing happens if the connection is not up.
  void close(std::uint32_t peer, const Bye& bye) override;
  bool reliable() const override { return true; }
  double now() const override;  ///< of a clock that is not set

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace hearsay::net
