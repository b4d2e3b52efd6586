#include "hearsay/transport/tls/tls.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/transport/registry.h"
#include "hearsay/transport/wait.h"
#include "support/message_of.h"
#include "support/scratch.h"
#include "support/tls_transports.h"
#include "transport/world.h"

namespace hearsay::transport {
namespace {

using namespace std::chrono_literals;

TEST(Tls, AProcessThatAbortsIsGoneForTheOthers) {
  auto all = support::tls_transports(3);
  const Bytes body = bytes_like(100, 1, 0, 0);
  all[1]->send(0, gossip(0), {}, body);
  EXPECT_TRUE(same(all[0]->receive(gossip(0), 30s).value().body, body));
  all[1]->send(2, gossip(0), {}, body);
  all[1]->abort(1);
  for (const std::size_t process : {0u, 2u}) {
    const std::string error =
        support::message_of<RunFailed>([&] { receive_or_fail(*all[process], gossip(1), {}); });
    EXPECT_EQ(error, "[transport] process 1 is gone, and the run needs everybody");
    EXPECT_FALSE(all[process]->send(1, gossip(1), {}, {}));
    EXPECT_TRUE(all[process]->flush(gossip(1), 0ms)) << "nobody waits for it";
  }
  EXPECT_TRUE(all[0]->send(2, gossip(1), {}, {}));
  EXPECT_TRUE(all[2]->receive(gossip(1), 30s));
  std::jthread other([&] { all[2].reset(); });
  all[0].reset();
}

TEST(Tls, WhatWasSentBeforeTheEndArrives) {
  auto all = support::tls_transports(2);
  const Bytes body = bytes_like(3u << 20, 0, 1, 0);
  std::jthread first([&] {
    all[0]->send(1, gossip(0), {}, body);
    all[0].reset();
  });
  EXPECT_TRUE(same(all[1]->receive(gossip(0), 30s).value().body, body));
}

TEST(Tls, NamesWhoIsMissing) {
  const support::TlsFleet fleet(3);
  std::jthread other([&] {
    EXPECT_THROW(make_tls_transport({.identity = fleet.keys[1], .fleet = fleet.fleet, .wait = 1s}),
                 RunFailed);
  });
  const std::string error = support::message_of<RunFailed>(
      [&] { make_tls_transport({.identity = fleet.keys[0], .fleet = fleet.fleet, .wait = 1s}); });
  EXPECT_TRUE(error.starts_with("[tls] after 1 s there is no connection with n2 (")) << error;
}

TEST(Tls, RefusesAKeyThatIsNotListed) {
  const support::TlsFleet fleet(2);
  const std::string error = support::message_of(
      [&] { make_tls_transport({.identity = net::Identity::generate(), .fleet = fleet.fleet}); });
  EXPECT_TRUE(error.starts_with("[tls] the fleet file does not have the key hs1:")) << error;
}

TEST(Tls, IsMadeFromFiles) {
  const support::Scratch scratch;
  const support::TlsFleet fleet(2);
  std::string text;
  for (const net::FleetPeer& peer : fleet.fleet.peers) text += net::to_toml(peer);
  support::write_text(scratch / "fleet.toml", text);
  std::vector<std::unique_ptr<Transport>> all(2);
  {
    std::vector<std::jthread> starting;
    for (std::size_t process = 0; process < 2; ++process) {
      const std::string key = (scratch / fmt::format("{}.pem", process)).string();
      fleet.keys[process].write_new(key);
      starting.emplace_back([&, process, key] {
        all[process] = make_transport(fmt::format("tls:fleet={},identity={},wait=30",
                                                  (scratch / "fleet.toml").string(), key));
      });
    }
  }
  EXPECT_EQ(all[1]->seat().process, 1u);
  EXPECT_EQ(all[0]->name(), "tls");
  std::jthread other([&] { all[1].reset(); });
  all[0].reset();
}

}  // namespace
}  // namespace hearsay::transport
