// Devices that die and stand still. Rates are those of rounds that take 50 ms by themselves, so
// that cores that become free do not hide what a death costs the others.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "cli/fleet.h"
#include "cli/sockets.h"
#include "hearsay/core/random.h"

namespace hearsay::cli {
namespace {

using std::chrono::milliseconds;

/// Of a process, by /proc.
struct Resources {
  std::size_t descriptors = 0, threads = 0, kilobytes = 0;
};

Resources resources_of(pid_t process) {
  const fs::path proc = fmt::format("/proc/{}", process);
  Resources found;
  const auto count = [](const fs::path& folder) {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  };
  found.descriptors = count(proc / "fd");
  found.threads = count(proc / "task");
  std::ifstream status(proc / "status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) found.kilobytes = std::stoul(line.substr(6));
  }
  return found;
}

using Chaos = Fleet;

TEST_F(Chaos, OthersKeepTheirPaceWhenThreeOfEightAreGone) {
  make_fleet(8, "algorithm = 'sgp'\ngraph = 'exponential'\nrounds = 1000000\n");
  for (std::size_t k = 0; k < 8; ++k) start(k, {"--threads", "1"}, "50ms");
  const std::vector<std::size_t> others{0, 1, 3, 4, 7};
  for (std::size_t k = 0; k < 8; ++k) {
    ASSERT_TRUE(comes_true([&] { return rounds_of(k) > 40; })) << error_of(k);
  }
  const double before = rate_of(others);

  const double when = now();
  device(2).kill();
  device(5).kill();
  device(6).signal(SIGSTOP);
  for (const std::size_t gone : {2u, 5u}) EXPECT_EQ(device(gone).wait(), -SIGKILL);
  for (const std::size_t k : others) {
    for (const char* gone : {"pi-2 is gone", "pi-5 is gone", "pi-6 is gone"}) {
      if (time_of(k, std::string(gone).substr(0, 4) + " is connected") == 0) continue;
      ASSERT_TRUE(comes_true([&] { return time_of(k, gone) > 0; })) << k << " " << gone;
      EXPECT_LT(time_of(k, gone) - when, 3) << k << " " << gone;
    }
  }
  for (const std::size_t k : others) {
    for (const std::size_t gone : {2u, 5u, 6u}) {
      EXPECT_TRUE(comes_true([&] { return !is_live(k, gone); }));
    }
  }
  EXPECT_LT(now() - when, 6 + 2.5) << "all know; what they know is written every 2 s";
  const double after = rate_of(others);
  EXPECT_GT(after, 0.9 * before);

  device(6).signal(SIGCONT);
  const double restart = now();
  const std::array<double, 2> rounds{rounds_of(2), rounds_of(5)};
  for (const std::size_t k : {2u, 5u}) {
    fs::remove(out(k) / "fleet.json");
    go_on(k);
  }
  for (const std::size_t k : {2u, 5u}) {
    EXPECT_TRUE(comes_true([&] { return rounds_of(k) > 0; })) << error_of(k);
  }
  EXPECT_LT(now() - restart, 10);
  EXPECT_TRUE(comes_true([&] { return is_live(0, 6); })) << "who stood still is back";
  EXPECT_GT(rounds_of(2), rounds[0]) << "at the clock of the fleet";
  EXPECT_GT(rounds_of(5), rounds[1]);
  std::cout << "rounds per second of five peers: " << before << " before, " << after << " after\n";
}

/// Strangers at a door: half of them connect and say nothing, half begin a handshake and send a
/// byte of it every tenth of a second. Who is turned away comes again at once.
class Flood {
 public:
  static constexpr std::size_t kStrangers = 1000;

  Flood(const Place& door, const std::string& from) : door_(door), from_(from) {
    thread_ = std::thread([this] { work(); });
  }
  ~Flood() {
    stop_ = true;
    thread_.join();
  }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

  int turned_away() const { return turned_away_; }

 private:
  void work() {
    std::vector<Socket> all(kStrangers);
    const std::array<std::uint8_t, 5> hello{0x16, 0x03, 0x01, 0x00, 0xc8};  // of 200 bytes
    for (std::size_t beat = 0; !stop_; ++beat) {
      for (std::size_t k = 0; k < all.size(); ++k) {
        std::uint8_t byte = 0;
        if (all[k] && ::recv(all[k].get(), &byte, 1, 0) < 0 && errno == EAGAIN) {
          if (k % 2 == 1) ::send(all[k].get(), &hello[beat % hello.size()], 1, MSG_NOSIGNAL);
          continue;
        }
        if (all[k]) ++turned_away_;
        all[k] = connect_to(door_, from_);
      }
      std::this_thread::sleep_for(milliseconds(100));
    }
  }

  Place door_;
  std::string from_;
  std::atomic<int> turned_away_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

TEST_F(Chaos, AFloodOfStrangersSlowsNobody) {
  make_fleet(3, "algorithm = 'sgp'\ngraph = 'exponential'\nrounds = 1000000\n");
  for (std::size_t k = 0; k < 3; ++k) start(k, {"--threads", "1"}, "50ms");
  const std::vector<std::size_t> all{0, 1, 2};
  for (const std::size_t k : all) {
    ASSERT_TRUE(comes_true([&] { return rounds_of(k) > 40; })) << error_of(k);
  }
  const double before = rate_of(all);
  const std::size_t descriptors = resources_of(device(0).pid()).descriptors;
  const Flood flood({host(0), 7420}, "127.0.0.2");
  const double first = rate_of(all);
  EXPECT_LE(resources_of(device(0).pid()).descriptors, descriptors + 32 + 2) << "32 an address";
  const double second = rate_of(all);
  EXPECT_GT(flood.turned_away(), 2000);
  EXPECT_GT((first + second) / 2, 0.95 * before);
  for (const std::size_t k : all) EXPECT_EQ(error_of(k).find("is gone"), std::string::npos);
  std::cout << "rounds per second of three peers: " << before << " before, " << first << " and "
            << second << " in the flood; " << flood.turned_away() << " strangers turned away\n";
}

/// tests/soak.sh sets HEARSAY_SOAK_SECONDS to hours.
TEST_F(Chaos, GoesOnHoweverOftenDevicesDie) {
  const char* text = std::getenv("HEARSAY_SOAK_SECONDS");
  const double seconds = text == nullptr ? 60 : std::strtod(text, nullptr);
  constexpr std::size_t kDevices = 6;
  make_fleet(kDevices, "algorithm = 'scsp'\ngraph = 'exponential'\nrounds = 100000000\n");
  for (std::size_t k = 0; k < kDevices; ++k) start(k, {"--threads", "1"}, "20ms");
  ASSERT_TRUE(comes_true([&] { return rounds_of(0) > 40; }));

  Random random(static_cast<std::uint64_t>(::getpid()), Purpose::kTest);
  const double begin = now();
  double rounds = rounds_of(0), changed = now(), longest = 0;
  Resources early;
  int deaths = 0;
  while (now() - begin < seconds) {
    // The first lives on, so that what it costs can be measured.
    const std::size_t victim = 1 + random.below(kDevices - 1);
    device(victim).kill();
    device(victim).wait();
    ++deaths;
    std::this_thread::sleep_for(milliseconds(500 + random.below(500)));
    go_on(victim);
    std::this_thread::sleep_for(milliseconds(500 + random.below(500)));
    ASSERT_FALSE(device(0).ended()) << error_of(0);
    if (rounds_of(0) != rounds) {
      longest = std::max(longest, now() - changed);
      rounds = rounds_of(0);
      changed = now();
    }
    if (early.threads == 0 && now() - begin > seconds / 3) early = resources_of(device(0).pid());
  }
  longest = std::max(longest, now() - changed);
  EXPECT_LT(longest, 30) << "seconds without a round";
  const Resources late = resources_of(device(0).pid());
  EXPECT_EQ(late.threads, early.threads);
  EXPECT_LE(late.descriptors, early.descriptors + 2 * kDevices);
  EXPECT_LE(late.kilobytes, early.kilobytes * 5 / 4 + 4096);
  std::cout << deaths << " deaths in " << seconds << " s; " << rounds << " rounds; "
            << early.kilobytes << " -> " << late.kilobytes << " kB, " << early.descriptors << " -> "
            << late.descriptors << " descriptors, " << late.threads << " threads; at most "
            << longest << " s without a round\n";
  for (std::size_t k = 0; k < kDevices; ++k) device(k).signal(SIGTERM);
  for (std::size_t k = 0; k < kDevices; ++k) EXPECT_EQ(device(k).wait(), 130) << error_of(k);
}

}  // namespace
}  // namespace hearsay::cli
