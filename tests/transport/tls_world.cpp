#include <exception>
#include <thread>

#include <gtest/gtest.h>

#include "support/tls_transports.h"
#include "transport/world.h"

namespace hearsay::transport {
namespace {

World over_tls(std::string name, std::size_t processes) {
  return {std::move(name), [=](const std::function<void(const Process&)>& body) {
            auto transports = support::tls_transports(processes);
            std::vector<std::jthread> running;
            for (std::size_t p = 0; p < processes; ++p) {
              running.emplace_back([&, p] {
                try {
                  body({*transports[p], 7});
                } catch (const std::exception& error) {
                  ADD_FAILURE() << "process " << p << ": " << error.what();
                }
                transports[p].reset();  // each waits for the others
              });
            }
          }};
}

}  // namespace

std::vector<World> worlds() { return {over_tls("TwoOverTls", 2), over_tls("FourOverTls", 4)}; }

}  // namespace hearsay::transport
