#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/net/tls/asio.h"
#include "hearsay/net/tls/context.h"
#include "hearsay/net/tls/dial.h"
#include "hearsay/net/tls/doors.h"
#include "hearsay/net/tls/endpoint.h"
#include "hearsay/net/tls/listener.h"
#include "hearsay/net/tls/session.h"

namespace hearsay::net {

/// The connections of an endpoint: whom to dial, and which connection with a peer stays. On the io
/// thread, but for the constructor.
///
/// At most one connection with a peer is *current*: it was sent a HELLO, which is composed for it
/// alone, and it is up once the other's was accepted. A proven one becomes current if there is
/// none; else
///
///   dialled by this peer    it is closed: what the other began is as good
///   accepted                it waits (contender); when its HELLO arrives it replaces the current
///                           one, unless that was accepted later than it, or dialled by this peer,
///                           whose id is smaller, and not up yet when the contender was accepted
///
/// The other sends its HELLO on a connection it dialled only if that is its current one. So what
/// waits here has been given up there, or replaces what was given up there; in between, both have
/// dialled, and both ends compare the ids.
class Hub final : public Session::Owner {
 public:
  /// Listens.
  Hub(asio::io_context& io, TlsEndpoint::Parts parts, Doors& doors);

  std::uint32_t slot() const { return self_; }
  std::uint16_t port() const { return listener_ ? listener_->port() : std::uint16_t{0}; }

  void start();
  /// From now on no event is called and nothing logged. From any thread.
  void silence() { silent_ = true; }
  /// After `silence`: say goodbye and close all connections. The io context then runs out of work,
  /// within kStopSeconds.
  void stop();

  void want(const std::vector<std::uint32_t>& peers);
  void set_fleet(const Fleet& fleet);
  /// Of a connection that is up.
  void close(std::uint32_t peer, const std::shared_ptr<Session>& session, const Bye& bye);

 private:
  static constexpr double kTickSeconds = 0.05, kLongestTick = 0.2, kStopSeconds = 1;
  static constexpr std::size_t kRefusalsASecond = 10, kRefusalsKept = 256;

  struct Peer {
    Id id{};
    std::string name{};
    std::optional<Address> address{};
    bool listed = true, wanted = false;
    Backoff backoff;
    double dial_at = 0;
    std::shared_ptr<Dial> dial{};        ///< TCP
    std::shared_ptr<Session> attempt{};  ///< dialled, not yet proven
    std::shared_ptr<Session> current{}, contender{};
    bool up = false;            ///< `current` is
    double up_since = 0;        ///< seconds
    std::uint64_t up_born = 0;  ///< number of that event
    std::string trouble{};      ///< why it could not be reached, as logged
  };

  // Session::Owner:
  bool admits(Session& session, const Id& id) override;
  void proven(Session& session) override;
  void greeted(Session& session, const Hello& hello) override;
  void frame(Session& session, const Frame& frame) override;
  void more_of_a_frame(Session& session) override;
  void room(Session& session) override;
  void ended(Session& session, const std::string& why) override;
  void gone(Session& session) override;

  std::optional<std::uint32_t> slot_of(const Id& id) const;
  std::shared_ptr<Session> begin(asio::ip::tcp::socket socket, const TlsContext& context,
                                 std::optional<std::uint32_t> peer, std::shared_ptr<void> ticket);

  void dial(std::uint32_t slot);
  void dialled(std::uint32_t slot, const std::string& why, asio::ip::tcp::socket socket);
  void stop_dialling(Peer& peer);
  void redial_later(Peer& peer);
  /// It could not be reached.
  void trouble(Peer& peer, const std::string& why);
  void cut_off(std::uint32_t slot);

  void make_current(std::uint32_t slot, const std::shared_ptr<Session>& session);
  void judge(std::uint32_t slot, const Hello& hello);
  /// There is no current connection any more: tells, if it was up, and lets the contender in.
  void lose(std::uint32_t slot, std::string_view why);
  bool current_stays(const Peer& peer, const Session& contender) const;
  bool is_up(const Session& session) const;

  void tick();
  void tick_later();
  void log_refusal(const std::string& what);

  asio::io_context& io_;
  WireEvents& events_;
  std::function<void(const std::string&)> log_;
  FrameLimits limits_;
  Doors& doors_;
  TlsContext client_, server_;
  std::uint32_t self_ = 0;
  std::vector<Peer> peers_;                      ///< by slot
  std::set<std::shared_ptr<Session>> sessions_;  ///< all whose sockets are open
  std::optional<Listener> listener_;
  asio::steady_timer timer_;
  double last_tick_ = 0, stopping_for_ = 0;
  bool stopping_ = false;
  std::atomic<bool> silent_ = false;
  std::uint64_t born_ = 0;          ///< events so far, which orders them
  std::set<std::string> refusals_;  ///< logged lately
  double refusals_since_ = 0;
  std::size_t refusals_this_second_ = 0;
};

}  // namespace hearsay::net
