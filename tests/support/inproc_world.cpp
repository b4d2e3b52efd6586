#include <exception>
#include <thread>

#include <fmt/format.h>

#include "support/inproc.h"
#include "support/world.h"

namespace hearsay::support {

namespace {

/// Threads connected by a hub that delivers messages in random order.
World threads(std::size_t processes) {
  const auto run = [processes](const std::function<void(gossip::ProcessGroup&)>& body) {
    transport::Hub hub(processes, {.shuffle = 7});
    std::vector<std::unique_ptr<transport::Transport>> transports;
    for (std::size_t p = 0; p < processes; ++p) transports.push_back(hub.join(p));
    std::vector<std::jthread> all;
    for (std::size_t p = 0; p < processes; ++p) {
      all.emplace_back([&, p] {
        try {
          gossip::ProcessGroup group(*transports[p]);
          body(group);
        } catch (const std::exception& error) {
          ADD_FAILURE() << "process " << p << ": " << error.what();
        }
      });
    }
  };
  return {fmt::format("Threads{}", processes), run};
}

}  // namespace

std::vector<World> worlds() { return {threads(2), threads(3), threads(4)}; }

}  // namespace hearsay::support
