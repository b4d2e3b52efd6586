#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "hearsay/transport/tls/tls.h"

namespace hearsay::support {

/// Keys and addresses for processes of this program, on addresses of its own, so that no port is
/// taken; others with every call.
struct TlsFleet {
  explicit TlsFleet(std::size_t processes) {
    static std::atomic<unsigned> calls{0};
    const unsigned call = calls++;
    const auto pid = static_cast<unsigned>(::getpid());
    for (std::size_t process = 0; process < processes; ++process) {
      keys.push_back(net::Identity::generate());
      const std::string host =
          fmt::format("127.{}.{}.{}", 1 + (pid >> 8) % 250, pid & 255, 1 + process);
      const auto port = static_cast<std::uint16_t>(20000 + call % 10000);
      fleet.peers.push_back(
          {fmt::format("n{}", process), keys.back().id(), net::Address{host, port}});
    }
  }

  std::vector<net::Identity> keys;
  net::Fleet fleet;
};

/// Processes that are connected over TLS, as threads of this program may be.
inline std::vector<std::unique_ptr<transport::Transport>> tls_transports(std::size_t processes) {
  const TlsFleet all(processes);
  std::vector<std::unique_ptr<transport::Transport>> transports(processes);
  std::vector<std::jthread> starting;  // each waits for the others
  for (std::size_t process = 0; process < processes; ++process) {
    starting.emplace_back([&, process] {
      transports[process] =
          transport::make_tls_transport({.identity = all.keys[process], .fleet = all.fleet});
    });
  }
  starting.clear();
  return transports;
}

}  // namespace hearsay::support
