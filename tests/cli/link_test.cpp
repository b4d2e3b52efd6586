// A device whose link goes down: nothing is closed, it is only silent. Every device has a network
// of its own, within a user namespace, which needs no root.
#include <sched.h>
#include <sys/mount.h>

#include <cmath>
#include <system_error>

#include "cli/fleet.h"

namespace hearsay::cli {
namespace {

constexpr std::size_t kDevices = 3;

void check(int result, const char* what) {
  if (result != 0) throw std::system_error(errno, std::generic_category(), what);
}

/// From now on this process, which has one thread, and those that it starts see networks, and a
/// /run, that are theirs alone.
void leave_the_network() {
  const unsigned user = ::getuid(), group = ::getgid();
  check(::unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS), "unshare");
  support::write_text("/proc/self/setgroups", "deny");
  support::write_text("/proc/self/uid_map", fmt::format("0 {} 1", user));
  support::write_text("/proc/self/gid_map", fmt::format("0 {} 1", group));
  check(::mount("none", "/run", "tmpfs", 0, nullptr), "mount");
}

void run(const std::string& command) { check(std::system(command.c_str()), command.c_str()); }

class Link : public Fleet {
 protected:
  static void SetUpTestSuite() {
    leave_the_network();
    run("ip link add bridge0 type bridge && ip link set bridge0 up");
    for (std::size_t k = 0; k < kDevices; ++k) {
      run(fmt::format(
          "ip netns add pi{0} && ip link add pi{0} type veth peer name eth0 netns pi{0} "
          "&& ip link set pi{0} master bridge0 up && ip -n pi{0} link set lo up && "
          "ip -n pi{0} address add {1}/24 dev eth0 && ip -n pi{0} link set eth0 up",
          k, address(k)));
    }
  }
  static std::string address(std::size_t k) { return fmt::format("10.77.0.{}", k + 1); }
  static void set_link(std::size_t k, const char* state) {
    run(fmt::format("ip link set pi{} {}", k, state));
  }

  std::string host(std::size_t k) const override { return address(k); }
  Words launcher(std::size_t k) const override {
    return {"ip", "netns", "exec", fmt::format("pi{}", k)};
  }
};

TEST_F(Link, GoesDownAndUp) {
  constexpr std::size_t kRounds = 1500;
  make_fleet(kDevices,
             fmt::format("algorithm = 'sgp'\ngraph = 'exponential'\nrounds = {}\n", kRounds));
  for (std::size_t k = 0; k < kDevices; ++k) start(k, {"--threads", "1"}, "30ms");
  for (std::size_t k = 0; k < kDevices; ++k) {
    ASSERT_TRUE(comes_true([&] { return rounds_of(k) > 40; })) << error_of(k);
  }
  const double before = rate_of({0, 1}, 5);

  const double cut = now();
  set_link(2, "down");
  for (const std::size_t k : {0u, 1u}) {
    ASSERT_TRUE(comes_true([&] { return time_of(k, "pi-2 is gone") > 0; })) << k;
    EXPECT_LT(time_of(k, "pi-2 is gone") - cut, 3) << k;
  }
  const double after = rate_of({0, 1}, 5);
  EXPECT_GT(after, 0.9 * before);
  const double alone = rounds_of(2);
  EXPECT_TRUE(comes_true([&] { return rounds_of(2) > alone; })) << "it trains on, alone";

  set_link(2, "up");
  for (const std::size_t k : {0u, 1u}) {
    EXPECT_TRUE(comes_true([&] { return is_live(k, 2) && is_live(2, k); })) << k;
  }
  EXPECT_LT(rounds_of(0), kRounds) << "the end must come when the link is up again";
  double sum = 0;
  for (std::size_t k = 0; k < kDevices; ++k) {
    EXPECT_EQ(device(k).wait(), 0) << error_of(k);
    sum += last_line(k)["push_sum"][k].get<double>();
  }
  EXPECT_NEAR(sum, kDevices, 1e-9 * kDevices);
  EXPECT_GT(last_line(0)["messages_taken_back"], 0) << "the control: something was under way";
  std::cout << "rounds per second of two peers: " << before << " before, " << after
            << " after; sum of push-sum weights off by " << std::abs(sum - kDevices) << "\n";
}

}  // namespace
}  // namespace hearsay::cli
