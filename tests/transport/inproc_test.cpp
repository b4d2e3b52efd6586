#include "support/inproc.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/transport/collective.h"
#include "hearsay/transport/wait.h"

namespace hearsay::transport {
namespace {

using namespace std::chrono_literals;

const Label kLabel{Lane::kGossip, 3};

/// Three processes in one thread: sends do not block, so one thread can act for all.
struct Three {
  explicit Three(Hub::Options options = {}) : hub(3, options) {
    for (std::size_t p = 0; p < 3; ++p) processes.push_back(hub.join(p));
  }
  Transport& operator[](std::size_t p) { return *processes[p]; }

  Hub hub;
  std::vector<std::unique_ptr<Transport>> processes;
};

TEST(Inproc, AKilledProcessIsGoneForTheOthers) {
  Three three;
  EXPECT_TRUE(three[0].gone().empty());
  three.hub.kill(1);
  EXPECT_EQ(three[0].gone(), std::vector<std::size_t>{1});
  EXPECT_FALSE(three[0].send(1, kLabel, {}, {}));
  EXPECT_TRUE(three[0].send(2, kLabel, {}, {}));
  EXPECT_TRUE(three[2].receive(kLabel, 0ms));
}

TEST(Inproc, AKilledProcessCannotGoOn) {
  Three three;
  three.hub.kill(1);
  EXPECT_THROW(three[1].send(0, kLabel, {}, {}), RunFailed);
  EXPECT_THROW(three[1].receive(kLabel, 0ms), RunFailed);
  EXPECT_THROW(three[1].flush(kLabel, 0ms), RunFailed);
  EXPECT_THROW(three[1].expect(0, kLabel, {}), RunFailed);
}

TEST(Inproc, WhatAKilledProcessHadNotFlushedIsLost) {
  Three three;
  auto body = std::make_unique<Bytes>(5000);
  three[1].send(0, kLabel, {}, *body);
  three[2].send(0, kLabel, {}, {});
  three.hub.kill(1);
  body.reset();  // must not be read any more: checked by ASan
  EXPECT_EQ(three[0].receive(kLabel, 0ms).value().process, 2u);
  EXPECT_FALSE(three[0].receive(kLabel, 0ms));
}

TEST(Inproc, NobodyWaitsForAKilledProcessToTakeSomething) {
  Three three;
  three[0].send(1, kLabel, {}, {});
  EXPECT_FALSE(three[0].flush(kLabel, 0ms));
  three.hub.kill(1);
  EXPECT_TRUE(three[0].flush(kLabel, 0ms));
}

TEST(Inproc, AProcessMayBeKilledWhileItWaits) {
  Three three;
  std::jthread waiting([&] { EXPECT_THROW(three[1].receive(kLabel, 30s), RunFailed); });
  std::this_thread::sleep_for(20ms);
  three.hub.kill(1);
}

TEST(Inproc, LeavingIsBeingGone) {
  Three three;
  three.processes[2].reset();
  EXPECT_EQ(three[0].gone(), std::vector<std::size_t>{2});
}

TEST(Inproc, AbortEndsAllProcesses) {
  Three three;
  three[1].abort(1);
  for (std::size_t p = 0; p < 3; ++p) EXPECT_THROW(three[p].receive(kLabel, 0ms), RunFailed);
}

TEST(Inproc, ProcessesJoinOnce) {
  Three three;
  EXPECT_THROW(three.hub.join(0), InvalidArgument);
  EXPECT_THROW(three.hub.join(3), InvalidArgument);
}

/// The order in which ten waiting messages are received.
Bytes order(Hub::Options options) {
  Three three(options);
  for (std::uint8_t k = 0; k < 10; ++k) three[k % 2].send(2, kLabel, Bytes{k}, {});
  Bytes result;
  for (int k = 0; k < 10; ++k) result.push_back(three[2].receive(kLabel, 0ms).value().head.at(0));
  return result;
}

TEST(Inproc, ShufflesAsItsSeedSays) {
  const Bytes sent = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(order({}), sent);
  EXPECT_NE(order({.shuffle = 1}), sent);
  EXPECT_NE(order({.shuffle = 1}), order({.shuffle = 2}));
  EXPECT_EQ(order({.shuffle = 1}), order({.shuffle = 1}));
}

TEST(RunsThatNeedEverybody, NameWhoIsGone) {
  Three three;
  three.hub.kill(2);
  const auto text = [](auto action) -> std::string {
    try {
      action();
    } catch (const RunFailed& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string expected = "[transport] process 2 is gone, and the run needs everybody";
  EXPECT_EQ(text([&] { receive_or_fail(three[0], kLabel, {}); }), expected);
  EXPECT_EQ(text([&] { send_or_fail(three[0], 2, kLabel, {}, {}); }), expected);
  EXPECT_EQ(text([&] { Group(three[0]).gather({}); }), expected);
}

TEST(RunsThatNeedEverybody, LookUpWhileTheyWait) {
  Three three;
  int looks = 0;
  const Idle idle = [&] {
    if (++looks == 2) throw RunFailed("stopped");
  };
  EXPECT_THROW(receive_or_fail(three[0], kLabel, idle), RunFailed);
  EXPECT_EQ(looks, 2);
  three[0].send(1, kLabel, {}, {});
  EXPECT_THROW(flush_or_fail(three[0], kLabel, [] { throw RunFailed("stopped"); }), RunFailed);
}

}  // namespace
}  // namespace hearsay::transport
