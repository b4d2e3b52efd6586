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
    while (all[process]->gone().empty()) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(all[process]->gone(), std::vector<std::size_t>{1});
    EXPECT_FALSE(all[process]->send(1, gossip(1), {}, {}));
    EXPECT_TRUE(all[process]->flush(gossip(1), 0ms)) << "nobody waits for it";
  }
  EXPECT_TRUE(all[0]->send(2, gossip(1), {}, {}));
  EXPECT_TRUE(all[2]->receive(gossip(1), 30s));
  const std::string error =
      support::message_of<RunFailed>([&] { receive_or_fail(*all[0], gossip(1), {}); });
  EXPECT_EQ(error, "[transport] n1 is gone, and the run needs everybody");
}

TEST(Tls, WhatWasSentBeforeTheEndArrives) {
  auto all = support::tls_transports(2);
  const Bytes body = bytes_like(3u << 20, 0, 1, 0);
  std::jthread first([&] {
    all[0]->send(1, gossip(0), {}, body);
    all[0].reset();
  });
  EXPECT_TRUE(same(all[1]->receive(gossip(0), 30s).value().body, body));
  all[1].reset();
}

TEST(Tls, NamesWhoIsMissing) {
  const support::TlsFleet fleet(3);
  std::jthread other([&] {
    EXPECT_THROW(make_tls_transport({.identity = fleet.keys[1], .fleet = fleet.fleet, .wait = 5s}),
                 RunFailed);
  });
  const std::string error = support::message_of<RunFailed>(
      [&] { make_tls_transport({.identity = fleet.keys[0], .fleet = fleet.fleet, .wait = 1s}); });
  EXPECT_TRUE(error.starts_with("[tls] after 1 s there is no connection with n2 (")) << error;
}

TEST(Tls, SaysThatFleetFilesDiffer) {
  const support::TlsFleet fleet(2);
  net::Fleet other = fleet.fleet;
  std::swap(other.peers[0].name, other.peers[1].name);
  other.peers.push_back({"n2", net::Identity::generate().id(), {}});
  std::jthread second([&] {
    EXPECT_THROW(make_tls_transport({.identity = fleet.keys[1], .fleet = other, .wait = 1s}),
                 RunFailed);
  });
  const std::string error = support::message_of<RunFailed>(
      [&] { make_tls_transport({.identity = fleet.keys[0], .fleet = fleet.fleet, .wait = 1s}); });
  EXPECT_NE(error.find("n1 (its fleet file has other processes"), std::string::npos) << error;
}

TEST(Tls, LetsAProcessStartAgainWhileOthersWait) {
  const support::TlsFleet fleet(3);
  const auto start = [&](std::size_t process, std::chrono::seconds wait) {
    return make_tls_transport(
        {.identity = fleet.keys[process], .fleet = fleet.fleet, .wait = wait});
  };
  std::vector<std::unique_ptr<Transport>> all(3);
  {
    std::jthread first([&] { all[0] = start(0, 30s); });
    EXPECT_THROW(start(1, 1s), RunFailed);
    std::jthread second([&] { all[1] = start(1, 30s); });
    std::jthread third([&] { all[2] = start(2, 30s); });
  }
  EXPECT_TRUE(all[0]->send(1, gossip(0), {}, {}));
  EXPECT_TRUE(all[1]->receive(gossip(0), 30s));
  std::vector<std::jthread> ending;
  for (auto& one : all) ending.emplace_back([&one] { one.reset(); });
}

TEST(Tls, LetsGoOfWhatItWasLent) {
  auto all = support::tls_transports(2);
  auto body = std::make_unique<Bytes>(bytes_like(64u << 20, 0, 1, 0));
  auto buffer = std::make_unique<Bytes>(64u << 20);
  all[1]->expect(0, gossip(0), *buffer);
  all[0]->send(1, gossip(0), {}, *body);
  all[0]->let_go();
  all[1]->let_go();
  body.reset();  // must not be touched any more: checked by ASan
  buffer.reset();
  EXPECT_FALSE(all[0]->send(1, gossip(0), {}, {}));
  all[0]->abort(1);
  EXPECT_THROW(receive_or_fail(*all[1], gossip(0), {}), RunFailed);
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
