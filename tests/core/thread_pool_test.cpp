#include "hearsay/core/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace hearsay {
namespace {

TEST(ThreadPool, RunsEveryIterationOnce) {
  for (std::size_t threads : {1u, 2u, 5u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (std::size_t count : {0u, 1u, 3u, 1000u}) {
      std::vector<std::atomic<int>> seen(count);
      pool.run(count, [&](std::size_t i) { ++seen[i]; });
      for (const auto& times : seen) EXPECT_EQ(times, 1);
    }
  }
}

TEST(ThreadPool, RethrowsTheFailureOfTheLowestIteration) {
  ThreadPool pool(3);
  for (int repeat = 0; repeat < 20; ++repeat) {
    try {
      pool.run(100, [](std::size_t i) {
        if (i % 10 == 7) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "7");
    }
  }
}

TEST(ThreadPool, RunsALoopInsideALoop) {
  ThreadPool pool(2);
  std::atomic<int> total{0};
  pool.run(4, [&](std::size_t) { pool.run(5, [&](std::size_t) { ++total; }); });
  EXPECT_EQ(total, 20);
}

TEST(ThreadPool, EveryThreadOfALoopHasALaneOfItsOwn) {
  ThreadPool pool(5);
  for (std::size_t lanes : {1u, 2u, 3u, 8u}) {
    std::vector<std::atomic<int>> inside(lanes), seen(200);
    std::atomic<int> clashes{0};
    pool.run(lanes, seen.size(), [&](std::size_t lane, std::size_t i) {
      if (++inside.at(lane) > 1) ++clashes;
      ++seen[i];
      --inside.at(lane);
    });
    EXPECT_EQ(clashes, 0);
    for (const auto& times : seen) EXPECT_EQ(times, 1);
  }
}

TEST(ThreadPool, IdleThreadsJoinTheLoopInsideALoop) {
  ThreadPool pool(4);
  std::atomic<int> present{0};
  pool.run(2, [&](std::size_t k) {
    if (k == 1) return;
    pool.run(3, 3, [&](std::size_t, std::size_t) {  // each waits until all three are running
      ++present;
      while (present < 3) std::this_thread::yield();
    });
  });
  EXPECT_EQ(present, 3);
}

TEST(ThreadPool, RunsManyLoopsOfSeveralThreadsAtOnce) {
  ThreadPool pool(4);
  std::vector<int> sums(3, 0);
  pool.run(3, [&](std::size_t k) {
    for (int repeat = 0; repeat < 2000; ++repeat) {
      std::vector<int> parts(7, 0);
      pool.run(2, parts.size(),
               [&](std::size_t, std::size_t i) { parts[i] = static_cast<int>(i); });
      for (int part : parts) sums[k] += part;
    }
  });
  for (int sum : sums) EXPECT_EQ(sum, 2000 * 21);
}

TEST(ThreadPool, AFailureInsideALoopOfALoopReachesTheCaller) {
  ThreadPool pool(3);
  const auto fails = [](std::size_t, std::size_t i) {
    if (i == 4) throw std::runtime_error("4");
  };
  EXPECT_THROW(pool.run(2, [&](std::size_t) { pool.run(2, 9, fails); }), std::runtime_error);
  EXPECT_THROW(pool.run(3, 9, fails), std::runtime_error);
}

}  // namespace
}  // namespace hearsay
