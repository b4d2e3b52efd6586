// Peers on threads of this process that talk over TLS on 127.0.0.1.
#include "hearsay/peer/host.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "hearsay/net/tls/endpoint.h"
#include "hearsay/train/setup.h"
#include "support/scratch.h"

namespace hearsay::peer {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Waits for a condition that must come true; a minute at most, so that a failure ends.
template <class Condition>
bool comes_true(const Condition& condition) {
  for (int tries = 0; tries < 6000; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// Devices that know each other's keys and addresses; each is a host with a thread.
class Devices {
 public:
  explicit Devices(std::uint32_t peers, Settings more = {}) {
    more.insert(more.end(), {{"timing", "asynchronous"},
                             {"algorithm", "sgp"},
                             {"graph", "exponential"},
                             {"peers", std::to_string(peers)}});
    options_ = support::config_of(more);
    for (std::uint32_t slot = 0; slot < peers; ++slot) {
      keys_.push_back(net::Identity::generate());
      fleet_.peers.push_back({"pi-" + std::to_string(slot), keys_.back().id(), {}});
    }
    devices_.resize(peers);
  }
  ~Devices() {
    for (auto& device : devices_) {
      if (!device) continue;
      device->stop = true;
      if (device->thread.joinable()) device->thread.join();
    }
  }

  struct Device {
    net::TlsEndpoint* endpoint = nullptr;
    std::thread thread;
    std::atomic<bool> stop = false, entered = false, done = false;
    std::atomic<std::uint64_t> round = 0, first_round = 0;
    std::atomic<double> clock = 0;

    std::mutex mutex;
    std::vector<std::string> log;
    bool has_logged(std::string_view part) {
      const std::lock_guard lock(mutex);
      return std::ranges::any_of(
          log, [&](const std::string& line) { return line.find(part) != std::string::npos; });
    }
    std::unique_ptr<Host> host;  ///< the first to go: its threads log
  };
  Device& operator[](std::uint32_t slot) { return *devices_[slot]; }

  /// What is different about a device.
  struct Differences {
    std::uint32_t wait_for = 2;
    std::optional<train::SavedModel> model{};
    double clock = 0;
    Settings settings{};
  };
  void start(std::uint32_t slot) { start(slot, {}); }
  void start(std::uint32_t slot, Differences different) {
    auto device = std::make_unique<Device>();
    Device* it = device.get();
    train::RunOptions options = options_;
    for (const auto& [key, value] : different.settings) options.set(key, value);
    Host::Parts parts{
        .options = options,
        .self = slot,
        .incarnation = ++lives_,
        .connect = [&, it](Neighbours& neighbours) { return connect(slot, *it, neighbours); },
        .clock = different.clock,
        .least_round = 0.002,
        .wait_for = different.wait_for,
        .stop = [it] { return it->stop.load(); },
        .log =
            [it](const std::string& what) {
              const std::lock_guard lock(it->mutex);
              it->log.push_back(what);
            }};
    for (const net::FleetPeer& peer : fleet_.peers) parts.names.push_back(peer.name);
    if (different.model) {
      parts.saved = [model = *different.model](const engine::Objective&) {
        return std::optional(model);
      };
    }
    it->host = std::make_unique<Host>(std::move(parts));
    devices_[slot] = std::move(device);
    for (auto& other : devices_) {
      if (other && !other->done) other->endpoint->set_fleet(fleet_);
    }
    it->thread = std::thread([it] { run(*it); });
  }
  void wait() {
    for (auto& device : devices_) {
      if (device && device->thread.joinable()) device->thread.join();
    }
  }
  void leave() {
    for (auto& device : devices_) device->stop = true;
    wait();
  }
  /// The end of its life: its sockets are closed.
  void stop(std::uint32_t slot) {
    devices_[slot]->stop = true;
    if (devices_[slot]->thread.joinable()) devices_[slot]->thread.join();
    devices_[slot]->host.reset();
  }

 private:
  Host::Connection connect(std::uint32_t slot, Device& device, Neighbours& neighbours) {
    auto endpoint = std::make_unique<net::TlsEndpoint>(
        net::TlsEndpoint::Parts{.identity = keys_[slot],
                                .fleet = fleet_,
                                .events = neighbours,
                                .limits = neighbours.limits(),
                                .listen = net::Address{"127.0.0.1", 0}});
    device.endpoint = endpoint.get();
    const std::uint16_t port = endpoint->port();
    fleet_.peers[slot].address = net::Address{"127.0.0.1", port};
    net::TlsEndpoint* started = endpoint.get();
    return {std::move(endpoint), port, [started] { started->start(); }};
  }
  static void run(Device& device) {
    if (device.host->enter()) {
      device.first_round = device.host->peer().first_round();
      device.entered = true;
      while (device.host->step()) {
        device.round = device.host->peer().driver().round();
        device.clock = device.host->peer().clock();
      }
    }
    device.done = true;
  }

  train::RunOptions options_;
  std::vector<net::Identity> keys_;
  net::Fleet fleet_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::uint64_t lives_ = 0;
};

double accuracy_of(Devices::Device& device) {
  return device.host->peer().evaluate().score.values[0];
}

TEST(Host, TrainsWithOthersToTheEnd) {
  Devices devices(3, {{"rounds", "150"}, {"partition", "skew:0.8"}});
  for (std::uint32_t slot = 0; slot < 3; ++slot) devices.start(slot, {.wait_for = 3});
  devices.wait();
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    EXPECT_EQ(devices[slot].host->peer().stage(), Stage::kDone);
    EXPECT_FALSE(devices[slot].host->has_left());
    EXPECT_GT(devices[slot].host->peer().counts().applied, 50u);
    // Its own samples are mostly of some classes: alone it would not come near that.
    EXPECT_GT(accuracy_of(devices[slot]), 80);
  }
}

TEST(Host, WaitsForOthersBeforeItTrains) {
  Devices devices(3, {{"rounds", "20"}});
  devices.start(0, {.wait_for = 3});
  devices.start(1, {.wait_for = 3});
  ASSERT_TRUE(comes_true([&] { return devices[0].has_logged("waits for 3 peers; 2 are here"); }));
  EXPECT_FALSE(devices[0].entered || devices[1].entered);
  devices.start(2, {.wait_for = 3});
  devices.wait();
  EXPECT_TRUE(devices[0].entered && devices[1].entered && devices[2].entered);
}

/// More rounds than any test waits for: the fleet trains for as long as somebody is to join it.
const Settings kNoEnd{{"rounds", "1000000"}};

TEST(Host, EntersLateWithTheModelOfANeighbour) {
  Devices devices(3, kNoEnd);
  devices.start(0);
  devices.start(1);
  ASSERT_TRUE(comes_true([&] { return devices[0].clock > 200 && devices[1].clock > 200; }));
  devices.start(2);
  ASSERT_TRUE(comes_true([&] { return devices[2].entered.load(); }));
  EXPECT_GE(devices[2].first_round, 100u);
  EXPECT_TRUE(devices[2].has_logged("for its model: the fleet is at round"));
  ASSERT_TRUE(comes_true([&] { return devices[2].round > devices[2].first_round + 300; }));
  devices.leave();
  EXPECT_GT(accuracy_of(devices[2]), 80);
}

TEST(Host, ReturnsWithItsOwnModelAtTheClockOfTheFleet) {
  Devices devices(3, kNoEnd);
  for (std::uint32_t slot = 0; slot < 3; ++slot) devices.start(slot);
  ASSERT_TRUE(comes_true([&] { return devices[2].entered && devices[2].clock > 20; }));
  devices[2].stop = true;
  ASSERT_TRUE(comes_true([&] { return devices[2].done.load(); }));
  EXPECT_TRUE(devices[2].host->has_left());
  const train::SavedModel model = devices[2].host->peer().model();
  devices.stop(2);
  ASSERT_TRUE(comes_true([&] { return devices[0].clock > 500 && devices[1].clock > 500; }));
  devices.start(2, {.model = model, .clock = 20});
  ASSERT_TRUE(comes_true([&] { return devices[2].entered.load(); }));
  EXPECT_GE(devices[2].first_round, 250u);
  EXPECT_FALSE(devices[2].has_logged("for its model"));
}

TEST(Host, GoesOnAloneWithItsOwnModel) {
  Devices devices(2, {{"rounds", "60"}});
  Devices::Differences different{.clock = 30};
  {
    devices.start(0, {.wait_for = 1});
    devices.wait();
    different.model = devices[0].host->peer().model();
    devices.stop(0);
  }
  devices.start(0, different);
  devices.wait();
  EXPECT_EQ(devices[0].first_round, 30u);
  EXPECT_EQ(devices[0].host->peer().stage(), Stage::kDone);
}

TEST(Host, IsNotLetInWithOtherSettings) {
  Devices devices(3, {{"rounds", "100"}});
  devices.start(0);
  devices.start(1);
  devices.start(2, {.settings = {{"lr", "0.123"}}});
  EXPECT_TRUE(comes_true([&] { return devices[0].has_logged("pi-2 trains another run"); }));
  EXPECT_FALSE(devices[2].entered);
  devices[2].stop = true;
  devices.wait();
  EXPECT_TRUE(devices[2].host->has_left());
  EXPECT_FALSE(devices[0].host->has_left());
}

TEST(RunId, IsThatOfSettingsAndData) {
  const auto id = [](Settings more) {
    const train::RunOptions options = support::config_of(std::move(more));
    gossip::Machine machine("cpu", 1);
    return run_id(options, *train::make_objective(options, {}, options.peers, machine));
  };
  EXPECT_EQ(id({}), id({{"threads", "3"}}));
  EXPECT_EQ(id({}), id({{"device", "cpu:precision=int8"}})) << "devices may differ";
  EXPECT_EQ(id({}), id({{"robust", "clip"}})) << "how a device protects itself is its own affair";
  EXPECT_NE(id({}), id({{"lr", "0.123"}}));
  EXPECT_NE(id({}), id({{"model", "logistic"}}));
  EXPECT_NE(id({}), id({{"data", "least-squares"}}));
}

}  // namespace
}  // namespace hearsay::peer
