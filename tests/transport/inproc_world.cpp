#include <exception>
#include <thread>

#include <gtest/gtest.h>

#include "support/inproc.h"
#include "transport/world.h"

namespace hearsay::transport {
namespace {

World threads(std::string name, std::size_t processes, Hub::Options options = {}) {
  return {std::move(name), [=](const std::function<void(const Process&)>& body) {
            Hub hub(processes, options);
            std::vector<std::unique_ptr<Transport>> transports;
            for (std::size_t p = 0; p < processes; ++p) transports.push_back(hub.join(p));
            std::vector<std::jthread> running;
            for (std::size_t p = 0; p < processes; ++p) {
              running.emplace_back([&, p] {
                try {
                  body({*transports[p], 7});
                } catch (const std::exception& error) {
                  ADD_FAILURE() << "process " << p << ": " << error.what();
                }
              });
            }
          }};
}

}  // namespace

std::vector<World> worlds() {
  return {threads("TwoThreads", 2), threads("FourThreads", 4),
          threads("FiveThreadsShuffled", 5, {.shuffle = 1})};
}

}  // namespace hearsay::transport
