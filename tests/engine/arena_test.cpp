#include "hearsay/engine/cpu/arena.h"

#include <gtest/gtest.h>

#include <vector>

#include "hearsay/core/random.h"
#include "support/message_of.h"

namespace hearsay::engine::cpu {
namespace {

struct Request {
  std::size_t bytes, first, last;
};

TEST(Arena, GivesBuffersThatAreNeededTogetherDifferentMemory) {
  Random random(1, Purpose::kTest);
  for (int trial = 0; trial < 50; ++trial) {
    Arena arena;
    std::vector<Request> requests;
    for (int k = 0; k < 30; ++k) {
      const std::size_t first = random.below(40);
      requests.push_back({random.below(5000), first, first + random.below(10)});
      EXPECT_EQ(arena.request(requests.back().bytes, first, requests.back().last), k);
    }
    arena.allocate();
    const auto begin = [&](std::size_t k) { return arena.at(k); };
    for (std::size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(begin(i)) % 64, 0u);
      for (std::size_t k = 0; k < i; ++k) {
        const Request &a = requests[i], &b = requests[k];
        if (a.last < b.first || b.last < a.first) continue;
        EXPECT_TRUE(begin(i) + a.bytes <= begin(k) || begin(k) + b.bytes <= begin(i));
      }
    }
  }
}

TEST(Arena, SharesMemoryBetweenBuffersThatAreNot) {
  Arena arena;
  for (std::size_t k = 0; k < 10; ++k) arena.request(1000, 2 * k, 2 * k + 1);
  arena.allocate();
  EXPECT_EQ(arena.bytes(), 1024u);
  EXPECT_EQ(arena.at(0), arena.at(9));
}

TEST(Arena, IsRefusedIfItIsLargerThanTheMachine) {
  Arena arena;
  arena.request(std::size_t{1} << 60, 0, 1);
  const std::string message = support::message_of([&] { arena.allocate(); });
  EXPECT_TRUE(message.starts_with("[batch] needs 1.15e+03 PB of memory, and ")) << message;
}

}  // namespace
}  // namespace hearsay::engine::cpu
