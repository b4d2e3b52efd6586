// Devices whose network is bad: they train to the end, and no mass is lost or made.
#include <cmath>

#include "cli/fleet.h"
#include "cli/proxy.h"

namespace hearsay::cli {
namespace {

class BadNetwork : public Fleet {
 protected:
  /// Devices that are reached through a proxy alone.
  void start_behind_proxy(std::size_t devices, const std::string& settings) {
    make_fleet(devices, settings);
    std::vector<Proxy::Route> routes;
    for (std::size_t k = 0; k < devices; ++k) routes.push_back({{host(k), 7420}, {host(k), 7421}});
    proxy_ = std::make_unique<Proxy>(routes);
    for (std::size_t k = 0; k < devices; ++k) {
      start(k, {"--threads", "1", "--listen", host(k) + ":7421"}, "10ms");
    }
  }
  /// Messages that a device took back, in evaluations so far.
  double taken_back(std::size_t k) {
    const json line = last_line(k);
    return line.is_null() ? 0 : line.value("messages_taken_back", 0.0);
  }

  std::unique_ptr<Proxy> proxy_;
};

TEST_F(BadNetwork, ChangesNoSumHoweverBadItIs) {
  constexpr std::size_t kDevices = 4;
  start_behind_proxy(kDevices, "algorithm = 'sparse-push'\ngraph = 'exponential'\nrounds = 4000\n");
  const auto all_reach = [&](std::uint64_t round) {
    return comes_true([&] {
      for (std::size_t k = 0; k < kDevices; ++k) {
        if (!has_reached(k, round)) return false;
      }
      return true;
    });
  };
  const auto silences = [&] {
    std::size_t count = 0;
    for (std::size_t k = 0; k < kDevices; ++k) {
      for (std::size_t other = 0; other < kDevices; ++other) {
        count += time_of(k, fmt::format("pi-{} is gone (silent", other)) > 0;
      }
    }
    return count;
  };
  proxy_->set({.delay = 0.2, .jitter = 0.05, .bytes_per_second = 125'000});
  ASSERT_TRUE(all_reach(100)) << error_of(0);
  EXPECT_EQ(silences(), 0u) << "slow is not dead";

  proxy_->set({.delay = 0.02, .jitter = 0.01, .reset_after = 20'000});
  int before = proxy_->resets();
  ASSERT_TRUE(comes_true([&] { return proxy_->resets() >= before + 10; })) << "within frames";

  proxy_->set({});
  const std::size_t silences_before = silences();
  proxy_->set({.holds_to_listeners = true});
  EXPECT_TRUE(comes_true([&] { return silences() > silences_before; })) << "cut in one direction";

  proxy_->set({.lifetime = 0.5});  // flapping
  before = proxy_->resets();
  EXPECT_TRUE(comes_true([&] { return proxy_->resets() >= before + 10; }));
  for (std::size_t k = 0; k < kDevices; ++k) {
    ASSERT_FALSE(has_reached(k, 4000)) << "the end must come when the network is good again";
  }
  proxy_->set({});

  double sum = 0, taken = 0;
  for (std::size_t k = 0; k < kDevices; ++k) EXPECT_EQ(device(k).wait(), 0) << error_of(k);
  for (std::size_t k = 0; k < kDevices; ++k) {
    const json line = last_line(k);
    sum += line["push_sum"][k].get<double>();
    taken += taken_back(k);
    EXPECT_GT(line["accuracy"], 85) << k;
  }
  EXPECT_NEAR(sum, kDevices, 1e-9 * kDevices);
  EXPECT_GT(taken, 0) << "the control: messages were lost on their way";
  std::cout << proxy_->connections() << " connections, " << proxy_->resets() << " resets, " << taken
            << " messages taken back, sum of push-sum weights off by " << std::abs(sum - kDevices)
            << "\n";
}

}  // namespace
}  // namespace hearsay::cli
