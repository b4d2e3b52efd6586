#include <exception>
#include <thread>

#include <fmt/format.h>

#include "support/tls_transports.h"
#include "support/world.h"

namespace hearsay::support {

namespace {

/// Threads that are connected over TLS.
World over_tls(std::size_t processes) {
  const auto run = [processes](const std::function<void(gossip::ProcessGroup&)>& body) {
    auto transports = tls_transports(processes);
    std::vector<std::jthread> all;
    for (std::size_t p = 0; p < processes; ++p) {
      all.emplace_back([&, p] {
        try {
          gossip::ProcessGroup group(*transports[p]);
          body(group);
        } catch (const std::exception& error) {
          ADD_FAILURE() << "process " << p << ": " << error.what();
        }
        transports[p].reset();  // each waits for the others
      });
    }
  };
  return {fmt::format("OverTls{}", processes), run};
}

}  // namespace

std::vector<World> worlds() { return {over_tls(4)}; }

}  // namespace hearsay::support
