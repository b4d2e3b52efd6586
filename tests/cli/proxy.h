#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "cli/sockets.h"
#include "hearsay/core/bytes.h"
#include "hearsay/core/random.h"

namespace hearsay::cli {

/// What a bad network does to connections that go through it. The order of bytes stays, as TCP's.
struct Trouble {
  double delay = 0, jitter = 0;     ///< seconds that bytes are on their way, +- jitter
  double bytes_per_second = 0;      ///< of each direction; 0: as fast as it goes
  std::size_t reset_after = 0;      ///< a connection is reset after that many bytes on average
  double lifetime = 0;              ///< seconds after which a connection is reset; 0: never
  bool holds_to_listeners = false;  ///< what those say that dialled stays on its way
};

/// Stands between devices: whoever connects to `from` reaches `to`, through trouble.
class Proxy {
 public:
  struct Route {
    Place from, to;
  };
  explicit Proxy(const std::vector<Route>& routes);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  void set(const Trouble& trouble);
  int resets() const { return resets_; }  ///< so far
  int connections() const { return connections_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Piece {
    double due;
    Bytes bytes;
  };
  /// From one socket to another.
  struct Direction {
    std::deque<Piece> waiting{};
    std::size_t bytes = 0;  ///< that wait
    double last_due = 0;
    double paid_until = 0;  ///< when the line is free again
    bool ended = false;     ///< no more will come
  };
  struct Connection {
    Socket dialler, listener;
    Direction to_listener{}, to_dialler{};
    double begin = 0;
    std::size_t until_reset = 0;  ///< bytes; 0: none
    bool over = false;
  };

  void work();
  void admit(const Route& route, const Socket& socket);
  void receive(Connection& connection, const Socket& from, Direction& direction);
  void pass_on(Connection& connection, const Socket& to, Direction& direction);
  void reset(Connection& connection);
  double now() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  const Clock::time_point begin_ = Clock::now();
  std::vector<Route> routes_;
  std::vector<Socket> listeners_;
  std::list<Connection> all_;
  Random random_{7, Purpose::kTest};
  std::mutex mutex_;
  Trouble wanted_, trouble_;
  std::atomic<int> resets_ = 0, connections_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace hearsay::cli
